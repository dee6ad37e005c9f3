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

/** Loads what the ends of runs change: a store is opened with it. */
export async function loadEndEffects(): Promise<EndEffects> {
  return endEffectsOf(await fromAll(async ({ endEffects = [] }) => endEffects))
}

/** Loads all kinds of triggers. */
export async function loadTriggerKinds(): Promise<TriggerKinds> {
  const { timedKinds } = await import('../engine/timed/kinds.js')
  return kindsOf([...timedKinds.values(), ...(await fromAll(({ kinds }) => kinds?.()))])
}

/** Loads what features add to the handlers of jobs. */
export async function loadHandlerExtensions(): Promise<readonly HandlerExtension[]> {
  return await fromAll(async ({ handlers }) => (handlers === undefined ? [] : [await handlers()]))
}

/** Loads what reads the files besides code and config that an app takes definitions from. */
export async function loadFileReaders(): Promise<readonly ReadDefinitionFiles[]> {
  return await fromAll(async ({ readFiles }) => (readFiles === undefined ? [] : [await readFiles()]))
}

/** How these triggers are performed although no engine runs, if they are. */
export async function withoutEngine(active: readonly StoredTrigger[]): Promise<string | undefined> {
  const [how] = await fromAll(async (feature) =>
    [await feature.withoutEngine?.(active)].flatMap((text) => text ?? []),
  )
  return how
}

/** Loads what runs beside the scheduler of an app with these definitions. */
export async function loadFeatureLoops(definitions: Registry): Promise<readonly FeatureLoop[]> {
  const { backfillLoop } = await import('../engine/backfill/backfill-loop.js')
  return [backfillLoop(await loadBackfillKinds()), ...(await fromAll(({ loops }) => loops?.(definitions)))]
}

/** Loads all kinds of backfills. */
export async function loadBackfillKinds(): Promise<BackfillKinds> {
  const { triggerBackfill } = await import('../engine/backfill/trigger-backfill.js')
  return [triggerBackfill, ...(await fromAll(({ backfills }) => backfills?.()))]
}

/** Loads what features look at when somebody asks whether all is well. */
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
