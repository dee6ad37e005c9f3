/** One step of a schema. Its statements are literals and never change: existing stores were created by them. */
export interface Migration {
  readonly version: number
  /** The oldest schema version whose code can still use a store of this version. */
  readonly compatibleFrom: number
  readonly statements: readonly string[]
}
