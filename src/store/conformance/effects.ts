import type { Json } from '../../kernel/definition/json.js'
import { endEffectsOf, type EndedRun, type EndEffect } from '../../kernel/run/end-effect.js'
import { openMemoryStore } from '../memory/memory-store.js'
import { emptyTables } from '../memory/tables.js'
import type { Store } from '../port.js'
import type { StateKey } from '../../kernel/state/state-entry.js'

/** Reads two state entries, rewrites the first, moves the second elsewhere, and wakes the trigger of the run. */
const waking: EndEffect = {
  name: 'waking',
  code: 2,
  reads: (run) => [ofJob(run), ofTrigger(run)],
  changes: (run, [first, second]) => [
    { ...ofJob(run), value: { ...factsOf(run), before: timesOf(first) } },
    ...(second === undefined ? [] : [{ ...ofTrigger(run), value: undefined }, keptFrom(run, second)]),
  ],
  wakesTrigger: true,
}

/** Records the end, and writes an arrival for the triggers that follow the job if the run is done. */
const arriving: EndEffect = {
  name: 'asset',
  code: 3,
  reads: (run) => [ofPartition(run)],
  changes: (run, [before]) =>
    run.state === 'cancelled'
      ? []
      : [{ ...ofPartition(run), value: { ...factsOf(run), before: timesOf(before) } }],
  arrival: ({ id, job, partition = '', state, at }) =>
    state === 'done'
      ? { kind: 'arrival', item: JSON.stringify([job, partition]), value: { run: id, at } }
      : undefined,
}

/** Records the end, replacing any earlier entry. */
const recording: EndEffect = {
  name: 'once',
  code: 4,
  changes: (run) => [{ kind: 'executed', name: run.trigger ?? '', item: '', value: factsOf(run) }],
}

/** The effects of a store under test. They belong to no feature; the kernel gives assets and one-shots these names. */
export const lawEffects = endEffectsOf([waking, arriving, recording])

/** A memory store with these effects, with which other stores are compared. */
export function openModel(): Store {
  return openMemoryStore(emptyTables(lawEffects))
}

function ofJob({ job }: EndedRun): StateKey {
  return { kind: 'service', name: job, item: '' }
}

function ofTrigger({ trigger = '' }: EndedRun): StateKey {
  return { kind: 'cycle', name: trigger, item: '' }
}

function ofPartition({ job, partition = '' }: EndedRun): StateKey {
  return { kind: 'partition', name: job, item: partition }
}

function keptFrom({ trigger = '' }: EndedRun, value: Json) {
  return { kind: 'check', name: trigger, item: '', value } as const
}

/** Every field of a run that an effect gets. */
function factsOf({ id, dueAt, state, startedAt, at, error, reason }: EndedRun) {
  const { code = null, message = null } = error ?? {}
  return { run: id, dueAt, state, startedAt: startedAt ?? null, at, code, message, reason: reason ?? null }
}

/** Bounded, so that the value does not nest deeper with each end of a story. */
function timesOf(value: Json | undefined): Json {
  const before = typeof value === 'object' && value !== null && 'before' in value ? value.before : value
  return typeof before === 'number' ? before + 1 : (before ?? null)
}
