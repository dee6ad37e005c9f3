import type { Instant } from '../../time/instant.js'
import type { RunId } from '../identity/identity.js'
import type { Json } from '../definition/json.js'
import type { StateChange, StateKey } from '../state/state-entry.js'
import {
  cycleAfter,
  lastCheckChange,
  timingAfter,
  type Cycle,
  type EndedService,
  type ServiceTiming,
} from '../../features/rounds/round.js'
import type { FinalState, Follow, StoredError } from './run.js'

/** A run that has become final, as far as what follows it needs to know. */
export interface EndedRun {
  readonly id: RunId
  readonly job: string
  readonly trigger: string | undefined
  readonly partition: string | undefined
  readonly dueAt: Instant
  readonly state: FinalState
  /** When the attempt that ended it began. */
  readonly startedAt: Instant | undefined
  readonly at: Instant
  readonly error: StoredError | undefined
  readonly reason: string | undefined
}

/** The state of an asset's partition, as far as ended runs tell it. */
export interface PartitionRecord {
  /** How the newest ended run of it ended. */
  readonly state: 'done' | 'failed'
  readonly run: RunId
  readonly at: Instant
  /** When it was last done, and by which run. */
  readonly doneAt: Instant | null
  readonly doneRun: RunId | null
  /** When the attempt began that did it: what was done upstream since then, it has not read. */
  readonly readAt: Instant | null
}

/** The notes that have to be known to say what the end of a run changes. */
export function notesBehind(
  follow: Follow,
  run: Pick<EndedRun, 'job' | 'trigger' | 'partition'>,
): StateKey[] {
  const { job, trigger = '', partition = '' } = run
  switch (follow) {
    case 'chain':
    case 'once':
      return []
    case 'service':
      return [
        { kind: 'service', name: job, item: '' },
        { kind: 'cycle', name: trigger, item: '' },
      ]
    case 'asset':
      return [{ kind: 'partition', name: job, item: partition }]
  }
}

/** What the end of a run changes; `values` are those of `notesBehind`, in that order. */
export function notesAfter(
  follow: Follow,
  run: EndedRun,
  values: readonly (Json | undefined)[],
): StateChange[] {
  switch (follow) {
    case 'chain':
      return []
    case 'once':
      return [onceAfter(run)]
    case 'service':
      return serviceAfter(run, values)
    case 'asset':
      return assetAfter(run, values[0])
  }
}

/** What the results of a round say about a run that has ended. */
function serviceInfo({
  state,
  error,
  reason,
}: Pick<EndedRun, 'error' | 'reason'> & { state: string }): string {
  return state === 'done' ? 'success' : (error?.message ?? reason ?? state)
}

/** Whether the end of a run makes its own trigger be looked at at once. */
export function wakesItsTrigger(follow: Follow): boolean {
  return follow === 'service'
}

/** Whether the end of a run is an arrival for the triggers that follow its job. */
export function arrives(follow: Follow, state: FinalState): boolean {
  return follow === 'asset' && state === 'done'
}

/** The note by which a trigger learns that a partition it follows was done. */
export function arrivalOf(trigger: string, run: EndedRun): StateChange {
  const partition = run.partition ?? ''
  const value = { asset: run.job, partition, run: run.id, at: run.at }
  return { kind: 'arrival', name: trigger, item: JSON.stringify([run.job, partition]), value }
}

function onceAfter(run: EndedRun): StateChange {
  const value = { at: run.at, run: run.id, state: run.state }
  return { kind: 'executed', name: run.trigger ?? '', item: '', value }
}

function serviceAfter(run: EndedRun, [timing, cycle]: readonly (Json | undefined)[]): StateChange[] {
  const ended: EndedService = {
    run: run.id,
    service: run.job,
    checkedAt: run.dueAt,
    isDone: run.state === 'done',
    info: serviceInfo(run),
  }
  const changes: StateChange[] = []
  if (timing !== undefined) {
    const value = timingAfter(timing as unknown as ServiceTiming, ended) as unknown as Json
    changes.push({ kind: 'service', name: run.job, item: '', value })
  }
  const next = cycle === undefined ? undefined : cycleAfter(cycle as unknown as Cycle, ended)
  if (next === undefined) return changes
  const round = run.trigger ?? ''
  const isOver = next.queue.length === 0
  const value = isOver ? undefined : (next as unknown as Json)
  const change: StateChange = { kind: 'cycle', name: round, item: '', value }
  return [...changes, change, ...(isOver ? [lastCheckChange(round, next)] : [])]
}

function assetAfter(run: EndedRun, before: Json | undefined): StateChange[] {
  if (run.state === 'cancelled') return []
  const known = before as unknown as PartitionRecord | undefined
  const isDone = run.state === 'done'
  const value: PartitionRecord = {
    state: isDone ? 'done' : 'failed',
    run: run.id,
    at: run.at,
    doneAt: isDone ? run.at : (known?.doneAt ?? null),
    doneRun: isDone ? run.id : (known?.doneRun ?? null),
    readAt: isDone ? (run.startedAt ?? run.at) : (known?.readAt ?? null),
  }
  const item = run.partition ?? ''
  return [{ kind: 'partition', name: run.job, item, value: value as unknown as Json }]
}
