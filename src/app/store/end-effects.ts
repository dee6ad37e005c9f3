import type { Feature } from '../../features/feature.js'
import { endEffectsOf, type EndEffects } from '../../kernel/run/end-effect.js'

/** Loads what the ends of runs change, from all features: a store is opened with it. */
export async function loadEndEffects(): Promise<EndEffects> {
  const features: readonly Feature[] = Object.values(await import('../../features/index.js'))
  const effects = await Promise.all(features.map(async ({ endEffects }) => (await endEffects?.()) ?? []))
  return endEffectsOf(effects.flat())
}
