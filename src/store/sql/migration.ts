/** One step forward of a schema. Its statements are literals and are never changed: a store was made by them. */
export interface Migration {
  readonly version: number
  /** The oldest schema version whose code can still work on a store of this one. */
  readonly compatibleFrom: number
  readonly statements: readonly string[]
}
