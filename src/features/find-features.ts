import type { AppFeature } from './feature.js'
import type * as features from './index.js'

/** A feature of the list without its object on the app. */
export type FoundFeature = WithoutApi<(typeof features)[keyof typeof features]>

type WithoutApi<One> = One extends AppFeature ? Omit<One, 'api'> : One

/** The features of the list, which is only loaded now: most commands that fail early or print help need none. */
export async function findFeatures(): Promise<readonly FoundFeature[]> {
  return Object.values(await import('./index.js'))
}
