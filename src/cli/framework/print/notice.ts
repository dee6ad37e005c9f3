/** One thing that happened: a line for people, and data for programs. */
export interface Notice extends Required<NoticeText> {
  readonly event: string
}

/** What is printed of an event. */
export interface NoticeText {
  /** `debug` is for programs only; default: `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error'
  /** Default: a dot for `info`, else an exclamation mark. */
  readonly symbol?: string
  /** The trigger or job it is about; of a feature also its own name for the run. */
  readonly subject: string
  readonly text: string
  /** Default: the event. */
  readonly data?: Readonly<Record<string, unknown>>
}
