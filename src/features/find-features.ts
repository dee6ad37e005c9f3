import { readdirSync } from 'node:fs'
import type { AppFeature } from './feature.js'
import type * as features from './index.js'

/** A feature of the list without its object on the app. */
export type FoundFeature = WithoutApi<(typeof features)[keyof typeof features]>

type WithoutApi<One> = One extends AppFeature ? Omit<One, 'api'> : One

const folders = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted()

/**
 * Finds the features by their folders. Unlike the list in `index.ts` this loads no object of the app, whose methods
 * need everything that defines jobs and triggers: a command without an app starts in half the time.
 */
export async function findFeatures(): Promise<readonly FoundFeature[]> {
  return await Promise.all(folders.map(loadFeature))
}

async function loadFeature(folder: string): Promise<FoundFeature> {
  const path = `./${folder}/feature.js`
  const { feature } = (await import(path)) as { readonly feature: FoundFeature }
  return feature
}
