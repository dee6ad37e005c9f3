import type { BackfillKinds } from '../engine/backfill/backfill-kind.js'
import type { Check } from '../engine/explain/finding.js'
import type { FeatureLoop } from '../engine/feature-loop.js'
import type { ReadDefinitionFiles } from '../engine/sync/definition-files.js'
import type { Registry } from '../engine/sync/registry.js'
import { kindsOf, type TriggerKinds } from '../engine/trigger-kind.js'
import type { Feature } from '../features/feature.js'
import { findFeatures } from '../features/find-features.js'
import type { HandlerExtension } from '../handlers/executable-jobs.js'
import type { StoredTrigger } from '../kernel/trigger/trigger.js'
import { endEffectsOf, type EndEffects } from '../kernel/run/end-effect.js'

/** Loads the end effects, with which a store is opened. */
export async function loadEndEffects(): Promise<EndEffects> {
  return endEffectsOf(await fromAll(async ({ endEffects = [] }) => endEffects))
}

/** Loads all kinds of triggers. */
export async function loadTriggerKinds(): Promise<TriggerKinds> {
  const { timedKinds } = await import('../engine/timed/kinds.js')
  return kindsOf([...timedKinds.values(), ...(await fromAll(({ kinds }) => kinds?.()))])
}

/** Loads the extensions that features add to the handlers of jobs. */
export async function loadHandlerExtensions(): Promise<readonly HandlerExtension[]> {
  return await fromAll(async ({ handlers }) => (handlers === undefined ? [] : [await handlers()]))
}

/** Loads the readers of files, besides code and config, from which an app takes definitions. */
export async function loadFileReaders(): Promise<readonly ReadDefinitionFiles[]> {
  return await fromAll(async ({ readFiles }) => (readFiles === undefined ? [] : [await readFiles()]))
}

/** How the runs of these triggers are performed without an engine, if they are. */
export async function withoutEngine(active: readonly StoredTrigger[]): Promise<string | undefined> {
  const [how] = await fromAll(async (feature) =>
    [await feature.withoutEngine?.(active)].flatMap((text) => text ?? []),
  )
  return how
}

/** Loads the loops that run alongside the scheduler of an app with these definitions. */
export async function loadFeatureLoops(definitions: Registry): Promise<readonly FeatureLoop[]> {
  const { backfillLoop } = await import('../engine/backfill/backfill-loop.js')
  return [backfillLoop(await loadBackfillKinds()), ...(await fromAll(({ loops }) => loops?.(definitions)))]
}

/** Loads all kinds of backfills. */
export async function loadBackfillKinds(): Promise<BackfillKinds> {
  const { triggerBackfill } = await import('../engine/backfill/trigger-backfill.js')
  return [triggerBackfill, ...(await fromAll(({ backfills }) => backfills?.()))]
}

/** Loads the checks of features for `rota doctor`. */
export async function loadChecks(): Promise<readonly Check[]> {
  return await fromAll(({ checks }) => checks?.())
}

async function fromAll<Part>(
  load: (feature: Feature) => Promise<readonly Part[]> | undefined,
): Promise<readonly Part[]> {
  const features: readonly Feature[] = findFeatures()
  const parts = await Promise.all(features.map(async (feature) => (await load(feature)) ?? []))
  return parts.flat()
}
