/** Reads the plans that an app names. Other files of the machine cannot be read this way. */
import { resolve } from 'node:path'
import type { AppContext } from '../app-context.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import type { Store } from '../../store/port.js'
import { activeTriggers } from '../../engine/active-triggers.js'
import { checkPlan, type CheckedPlan } from './check.js'
import { enqueueEntry, type EnqueuedEntry } from './enqueue-entry.js'
import { loadPlan } from './file.js'
import { schedulePass, type Pass } from './pass/schedule-pass.js'
import { planSourceName, realFile } from './source.js'

const prefix = 'plan:'

/** A plan, and how many of its entries the store has. */
export interface PlanInfo {
  /** The path of the plan from the directory of the app. */
  readonly name: string
  /** Whether this app names it, so that its file can be read. */
  readonly isNamed: boolean
  readonly entries: number
  /** How many of them are still to come. */
  readonly open: number
}

/** The plans that an app names, and those of other apps of which the store has entries, by name. */
export async function listPlans(context: AppContext, store: Store): Promise<readonly PlanInfo[]> {
  const named = await namedFiles(context)
  const found = new Map([...named.keys()].map((name) => [name, { entries: 0, open: 0 }]))
  for (const source of await store.sources()) {
    if (source.startsWith(prefix)) found.set(source.slice(prefix.length), await entriesOf(store, source))
  }
  return [...found]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, counts]) => ({ name, isNamed: named.has(name), ...counts }))
}

/** How many entries a plan has, and how many of them are still to come. Read in steps: there may be many. */
async function entriesOf(store: Store, source: string): Promise<Pick<PlanInfo, 'entries' | 'open'>> {
  let [entries, open] = [0, 0]
  for await (const { nextAt } of activeTriggers(store, source)) {
    entries += 1
    if (nextAt !== undefined) open += 1
  }
  return { entries, open }
}

/** Reads and checks a plan that an app names. */
export async function checkNamed(context: AppContext, name: string): Promise<CheckedPlan> {
  const { directory, now } = context
  return await checkPlan(await fileOf(context, name), { directory, now: now() })
}

/** Enqueues one entry of such a plan, also a missed one, but never twice. */
export async function enqueueNamed(
  context: AppContext,
  store: Store,
  entry: { readonly plan: string; readonly id: string; readonly isDry: boolean },
): Promise<EnqueuedEntry> {
  const { plan: name, id, isDry } = entry
  const plan = await loadPlan(await fileOf(context, name))
  return await enqueueEntry(store, {
    plan,
    planPath: name,
    source: `${prefix}${name}`,
    id,
    now: context.now(),
    isDry,
  })
}

/** What a pass over such a plan would enqueue in the store of the app. */
export async function rehearsePass(
  context: AppContext,
  store: Store,
  request: { readonly plan: string; readonly windowMs: number; readonly lookBackMs: number },
): Promise<Pass> {
  const { plan: name, windowMs, lookBackMs } = request
  const file = await fileOf(context, name)
  // Plans have a precision of seconds: an entry that is due this second is not late.
  const now = Math.floor(context.now() / 1000) * 1000
  const pass = { plan: await loadPlan(file), source: `${prefix}${name}`, planFile: realFile(file) }
  return await schedulePass(store, { ...pass, windowMs, lookBackMs, now, isDry: true })
}

async function namedFiles({ definitionFiles, directory }: AppContext): Promise<ReadonlyMap<string, string>> {
  const paths = await definitionFiles()
  return new Map(
    paths.map((path) => [planSourceName(path, directory).slice(prefix.length), resolve(directory, path)]),
  )
}

async function fileOf(context: AppContext, name: string): Promise<string> {
  const named = await namedFiles(context)
  const file = named.get(name)
  if (file !== undefined) return file
  const list = 'GET /api/v1/plans'
  throw new RotaError('PLAN_UNKNOWN', noneNamed('plan is named', name, { known: [...named.keys()], list }))
}
