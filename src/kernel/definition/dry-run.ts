/** The option of every change that can be previewed. */
export interface DryRun {
  /** Only checks the request and returns what would change. */
  readonly dryRun?: boolean | undefined
}
