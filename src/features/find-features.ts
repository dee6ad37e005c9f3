import type { AppFeature } from './feature.js'
import * as features from './index.js'

/** A feature of the list without its object on the app. */
export type FoundFeature = WithoutApi<(typeof features)[keyof typeof features]>

type WithoutApi<One> = One extends AppFeature ? Omit<One, 'api'> : One

/** The features of the list. */
export function findFeatures(): readonly FoundFeature[] {
  return Object.values(features)
}
