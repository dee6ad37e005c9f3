/** One event: a line for people, and data for programs. */
export interface Notice extends Required<NoticeText> {
  readonly event: string
}

/** The printed form of an event. */
export interface NoticeText {
  /** `debug` is for programs only; default: `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error'
  /** Default: a dot for `info`, else an exclamation mark. */
  readonly symbol?: string
  /** The trigger or job it is about; a feature may use its own name for the run. */
  readonly subject: string
  readonly text: string
  /** Default: the event. */
  readonly data?: Readonly<Record<string, unknown>>
}
