import { pastSchedules } from '../../engine/sync/past-schedules.js'
import { define, end } from '../../engine/sync/sync.js'
import { commandJobOf, commandTrigger, type CommandJob } from './definition.js'
import {
  commandJobState,
  executedElsewhere,
  executionOf,
  infoOf,
  type CommandJobInfo,
  type Execution,
} from './state.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { RunState } from '../../kernel/run/run.js'
import { isJobsSource } from '../../kernel/job/command-source.js'
import type { StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import { formatJobLine, type Executed } from './lines.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { nextTurn } from '../../time/turn.js'
import { performersOf, shellCommand } from './performers.js'
import { timedKinds } from '../../engine/timed/kinds.js'

/** A job that is to be stored. */
export interface NewJob {
  readonly job: CommandJob
  /** Set if it was already executed and is only kept. */
  readonly executed?: Executed | undefined
  readonly isShell?: boolean | undefined
}

/** A job with its trigger. */
export interface TriggeredJob extends NewJob {
  readonly trigger: Trigger
}

/** Jobs with their triggers, each for the job that performs it now. */
export async function withTriggers(
  store: Store,
  jobs: readonly NewJob[],
  now: Instant,
): Promise<readonly TriggeredJob[]> {
  if (jobs.length === 0) return []
  const commands = jobs.map(({ job, isShell = false }) => ({ command: job.command, isShell }))
  const performers = await performersOf(store, commands, now)
  return jobs.map((one, index) => {
    const trigger = commandTrigger(one.job, performers[index] as string)
    return { ...one, trigger: one.executed === undefined ? trigger : { ...trigger, enabled: false } }
  })
}

/** Writes jobs to the store; if an id is taken, nothing is written. */
export async function addToStore(
  store: Store,
  request: { readonly source: string; readonly jobs: readonly NewJob[]; readonly now: Instant },
): Promise<void> {
  const { source, now } = request
  const jobs = await withTriggers(store, request.jobs, now)
  const triggers = jobs.map(({ trigger }) => trigger)
  refuse('the job', await pastSchedules(store, triggers, now))
  await define(store, { kinds: timedKinds, source, triggers, now, isNew: true })
  await recordExecuted(store, jobs, now)
}

/** Records which of the jobs another program has executed. */
export async function recordExecuted(
  store: Store,
  jobs: readonly TriggeredJob[],
  now: Instant,
): Promise<void> {
  const changes = jobs.flatMap(({ executed, trigger }) =>
    executed === undefined ? [] : [executedElsewhere(trigger, executed.at)],
  )
  if (changes.length > 0) await store.changeState({ changes, now })
}

/** Ends jobs: running attempts may finish, runs that have not started are cancelled, history stays. */
export async function endInStore(
  store: Store,
  request: { readonly source: string; readonly ids: readonly string[]; readonly now: Instant },
): Promise<void> {
  const { source, ids, now } = request
  if (ids.length > 0) await end(store, { kinds: timedKinds, source, names: ids, now, cancelPending: true })
}

/** The trigger of a job, active or ended. */
export async function findJob(store: Store, id: string): Promise<StoredTrigger> {
  const [stored] = await store.triggers({ names: [id] })
  if (stored !== undefined && isJobsSource(stored.source)) return stored
  const known = (await store.triggers()).flatMap(({ trigger, source }) =>
    isJobsSource(source) ? [trigger.name] : [],
  )
  throw new RotaError(
    'JOB_UNKNOWN',
    noneNamed('command job has the id', id, { known, list: 'rota job list' }),
  )
}

/** Each job may need a query of its own. */
const infosAtOnce = 20

/** The states of jobs, in the given order. */
export async function infosOf(
  store: Store,
  triggers: readonly StoredTrigger[],
): Promise<readonly CommandJobInfo[]> {
  const executions = await executionsOf(store, triggers)
  const unfinished = await unfinishedRuns(store, triggers)
  const infos: CommandJobInfo[] = []
  for (const stored of triggers) {
    if (infos.length % infosAtOnce === infosAtOnce - 1) await nextTurn()
    const { trigger, source, nextAt, active } = stored
    const execution = executions.get(trigger.name)
    // For a one-shot, its execution record says whether it ran.
    const isAsked = trigger.schedule.kind !== 'once' || !unfinished.isWhole
    const run =
      unfinished.states.get(trigger.name) ?? (isAsked ? await newestRun(store, trigger.name) : undefined)
    const standing = {
      state: commandJobState({ stored, run, execution }),
      nextAt: active ? nextAt : undefined,
      executed: execution,
      isShell: trigger.job === shellCommand,
      source,
    }
    infos.push(infoOf(commandJobOf(trigger), standing))
  }
  return infos
}

/** Jobs as the lines of a file. */
export async function linesOf(store: Store, triggers: readonly StoredTrigger[]): Promise<readonly string[]> {
  const executions = await executionsOf(store, triggers)
  return triggers.map(({ trigger }) => formatJobLine(commandJobOf(trigger), executions.get(trigger.name)))
}

/** Which one-shots were executed, by id. */
export async function executionsOf(
  store: Store,
  triggers: readonly StoredTrigger[],
): Promise<ReadonlyMap<string, Execution>> {
  const once = triggers.filter(({ trigger }) => trigger.schedule.kind === 'once')
  const notes = await executedRecords(
    store,
    once.map(({ trigger }) => trigger.name),
  )
  return new Map(
    once.flatMap((stored) => {
      const { name } = stored.trigger
      const execution = executionOf(stored, notes.get(name))
      return execution === undefined ? [] : [[name, execution] as const]
    }),
  )
}

/** The execution records of jobs, by id. */
export async function executedRecords(
  store: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StateEntry>> {
  const found = new Map<string, StateEntry>()
  for (let i = 0; i < ids.length; i += page) {
    const names = ids.slice(i, i + page)
    for (const note of await store.stateEntries({ kind: 'executed', names, limit: page }))
      found.set(note.name, note)
  }
  return found
}

const page = 500

/** The states of unfinished runs by trigger, and whether these are all; for a single job only its own are read. */
async function unfinishedRuns(
  store: Store,
  triggers: readonly StoredTrigger[],
): Promise<{ readonly states: ReadonlyMap<string, RunState>; readonly isWhole: boolean }> {
  const [only] = triggers.length === 1 ? triggers : []
  const trigger = only?.trigger.name
  const states = new Map<string, RunState>()
  let isWhole = true
  for (const state of ['pending', 'running'] as const) {
    let before: RunId | undefined
    for (let seen = 0; ; seen += runsAtOnce) {
      const runs = await store.runs({ state, trigger, before, limit: runsAtOnce })
      for (const run of runs) if (run.trigger !== undefined) states.set(run.trigger, state)
      if (runs.length < runsAtOnce) break
      isWhole &&= seen < mostUnfinished
      if (!isWhole) break
      before = runs.at(-1)?.id
      await nextTurn()
    }
  }
  return { states, isWhole }
}

const mostUnfinished = 10_000
const runsAtOnce = 200

async function newestRun(store: Store, trigger: string): Promise<RunState | undefined> {
  return (await store.runs({ trigger, limit: 1 }))[0]?.state
}
