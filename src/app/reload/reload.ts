/**
 * A running app applies a changed config. It reads and checks the whole config before anything changes. Then it writes
 * the definitions as a start would write them, and its parts continue with them. Runs are not interrupted.
 */
import type { Engine } from '../../engine/engine.js'
import type { Registry } from '../../engine/sync/registry.js'
import type { SyncReport } from '../../engine/sync/sync.js'
import type { AppPart, StartingApp } from '../../features/app-context.js'
import type { Clock } from '../../time/clock.js'
import { faultsOf } from '../definitions/check-definitions.js'
import { OwnDefinitions } from '../definitions/own-definitions.js'
import { refusal } from '../definitions/refusal.js'
import { diffDefinitions, type NameDiff } from '../explain/definition-diff.js'
import { loadFeatureLoops, loadTriggerKinds } from '../features.js'
import type { Settings } from '../rota-options.js'
import { needsRestart, settingsAfter } from './changed-settings.js'
import type { ReadAgain, Reread } from './read-again.js'

/** The parts of a started app that a reload needs. */
export interface RunningApp {
  readonly app: StartingApp
  readonly engine: Engine
  readonly parts: readonly AppPart[]
  readonly registry: Registry
  readonly own: OwnDefinitions
  readonly settings: Settings
  readonly storeUrl: string
  readonly directory: string
  readonly clock: Clock
  readonly readAgain: ReadAgain
  /** Records which definitions this process has. */
  readonly tellDefinitions: (digest: string) => Promise<void>
  /** Called with the names that would end, before anything is written; it may throw. */
  readonly beforeEnding: (names: readonly string[]) => Promise<void>
}

/** What a reload changed, or would change. */
export interface ReloadReport {
  readonly jobs: NameDiff
  readonly triggers: NameDiff
  /** How many triggers did not change. */
  readonly unchanged: number
  /** Changed keys of the config that take effect only after a restart. */
  readonly needsRestart: readonly string[]
}

/** Applies the current config and returns the new settings; throws before any change if it has a fault. */
export async function reload(
  running: RunningApp,
  { dryRun }: { readonly dryRun: boolean },
): Promise<{ readonly report: ReloadReport; readonly settings: Settings }> {
  const { app, own, settings, storeUrl, clock } = running
  const { store, guard, roles } = app
  const reread = await running.readAgain({ clock, storeUrl })
  const fresh = new OwnDefinitions(own.source, reread.registry, reread.where)
  await refuseFaults(running, fresh, reread)
  const kinds = await loadTriggerKinds()
  const planned = await diffDefinitions(store, fresh.all().source, { kinds, now: guard.now(), days: 1 })
  const restart = needsRestart({ settings, source: own.source, storeUrl }, reread)
  const { jobs, unchanged } = planned
  const report = { jobs, unchanged, needsRestart: restart }
  if (dryRun) {
    const named = (kind: string): string[] =>
      planned.triggers.filter((one) => one.kind === kind).map(({ name }) => name)
    const triggers = { added: named('added'), changed: named('changed'), removed: named('removed') }
    return { report: { ...report, triggers }, settings }
  }
  if (roles.scheduler) await running.tellDefinitions(fresh.digest)
  const written = await write(running, fresh)
  const after = settingsAfter(settings, reread.settings)
  await goOn(running, fresh, after)
  return { report: { ...report, ...namesOf(written) }, settings: after }
}

/** Writes the definitions. If another app has one of the names, they are refused and the old ones stay. */
async function write(
  { app: { store, guard, roles }, directory, beforeEnding, own, tellDefinitions }: RunningApp,
  fresh: OwnDefinitions,
): Promise<SyncReport | undefined> {
  try {
    return await fresh.write(store, { directory, roles, now: guard.now(), beforeEnding })
  } catch (error) {
    if (roles.scheduler) await tellDefinitions(own.digest)
    throw error
  }
}

async function refuseFaults(running: RunningApp, fresh: OwnDefinitions, reread: Reread): Promise<void> {
  const { app, directory } = running
  const kinds = await loadTriggerKinds()
  const { source, where } = fresh.all()
  const { registry, config } = reread
  const now = app.guard.now()
  const faults = await faultsOf(app.store, { source, where, registry, kinds, directory, now })
  if (faults.length > 0) throw refusal(config, faults)
}

/** Makes the parts of the app continue with the new definitions. */
async function goOn(running: RunningApp, fresh: OwnDefinitions, settings: Settings): Promise<void> {
  const { app, own, engine, parts, registry } = running
  own.replaceBy(fresh)
  for (const part of parts) await part.redefine?.(app)
  await engine.redefine(settings, await loadFeatureLoops(registry))
  // They are in the store now.
  registry.triggers.clear()
}

function namesOf(
  written: SyncReport | undefined,
): Pick<ReloadReport, 'triggers'> & Partial<Pick<ReloadReport, 'unchanged'>> {
  if (written === undefined) return { triggers: { added: [], changed: [], removed: [] } }
  const { defined, changed, ended, unchanged } = written
  return { triggers: { added: defined, changed, removed: ended }, unchanged }
}
