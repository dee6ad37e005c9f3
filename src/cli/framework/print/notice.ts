/** One thing that happened, told to a person as a line and to a program as data. */
export interface Notice extends NoticeText {
  readonly event: string
}

/** A notice without the name of its event. */
export interface NoticeText {
  /** `debug` is for programs only. */
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly symbol: string
  /** The trigger or job it is about; of a feature also its own name for the run. */
  readonly subject: string
  readonly text: string
  readonly data: Readonly<Record<string, unknown>>
}
