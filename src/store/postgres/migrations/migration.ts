/** One step forward of the schema; steps are never changed once released. */
export interface Migration {
  readonly version: number
  /** The oldest schema version whose code can still work on a store of this one. */
  readonly compatibleFrom: number
  readonly statements: readonly string[]
}
