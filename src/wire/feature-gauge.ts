/** A gauge that a feature adds to the metrics: it follows one of its events. */
export interface FeatureGauge {
  readonly name: string
  readonly help: string
  readonly label: string
  readonly event: string
  /** The value after an event, and its subject. */
  readonly read: (notice: never) => { readonly of: string; readonly value: number }
}
