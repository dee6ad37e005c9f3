import { failureNotice, watchKey } from '../../../kernel/alert/notice.js'
import type { Json } from '../../../kernel/definition/json.js'
import type { EndEffect } from '../../../kernel/run/end-effect.js'
import type { StateKey } from '../../../kernel/state/state-entry.js'
import { endEffectOf } from '../rows/run-rows.js'
import {
  endedRunOf,
  type EffectiveEnd,
  type EndedRow,
  type RunEnd,
  type Unfinished,
} from '../rows/unfinished.js'
import type { Session } from '../session.js'
import { stateValue, stateValues, writeStateEntries, writeStateEntry, type StateWrite } from '../state.js'
import type { Verb } from '../verb.js'

// Relies on: primary key. The revision increases, so a tick computed before this end is stale.
const CONTINUE_CHAIN = `update rota.triggers set next_at = $1 + chain_ms, revision = revision + 1
  where name = $2 and chain_run = $3 and chain_ms is not null and is_active = 1`

// Relies on: primary key.
const ENDED = `select partition, due_at, started_at, error from rota.runs where seq = $1`

// Relies on: primary key. The revision increases for the same reason.
const LOOK_AT = `update rota.triggers set next_at = least($1, coalesce(next_at, $1)), revision = revision + 1
  where name = $2 and is_active = 1`

// Relies on: primary key. The revision stays: with a steady stream of arrivals every tick would be stale.
const ARRIVED = `update rota.triggers set next_at = least($1, coalesce(next_at, $1))
  where name = $2 and is_active = 1`

// Relies on: primary key.
const FOLLOWERS = `select trigger from rota.followers where asset = $1 order by trigger`

/** Applies the end effect of a run whose row is already final. */
export function* applyEndEffect(
  session: Session,
  run: Pick<Unfinished, 'seq' | 'id' | 'job' | 'trigger' | 'follow'>,
  end: RunEnd,
): Verb<void> {
  const effect = endEffectOf(session.endEffects, run.follow)
  if (effect === undefined) return
  session.tell('anything')
  if (effect.isChain === true) yield* session.sql.change(CONTINUE_CHAIN, end.at, run.trigger, run.id)
  if (effect.changes === undefined && effect.arrival === undefined && effect.wakesTrigger !== true) return
  const ended = endedRunOf(run, (yield* session.sql.get<EndedRow>(ENDED, run.seq)) as EndedRow, end)
  const values: (Json | undefined)[] = []
  const keys = effect.reads?.(ended) ?? []
  yield* session.native.lockEntries(keys)
  for (const key of keys) values.push(yield* stateValue(session, key))
  const changes = effect.changes?.(ended, values) ?? []
  yield* session.native.lockEntries(changes)
  for (const entry of changes) yield* writeStateEntry(session, entry, end.at)
  if (effect.wakesTrigger === true) yield* session.sql.change(LOOK_AT, end.at, run.trigger)
  const arrival = effect.arrival?.(ended)
  if (arrival === undefined) return
  const followers = yield* session.sql.all<{ trigger: string }>(FOLLOWERS, run.job)
  yield* session.native.lockEntries(followers.map(({ trigger }) => ({ ...arrival, name: trigger })))
  for (const { trigger } of followers) {
    yield* writeStateEntry(session, { ...arrival, name: trigger }, end.at)
    yield* session.sql.change(ARRIVED, end.at, trigger)
  }
}

/** Whether an effect changes only state entries: those of many runs can be applied together. */
export function changesOnlyState({ isChain, wakesTrigger, arrival }: EndEffect): boolean {
  return isChain !== true && wakesTrigger !== true && arrival === undefined
}

/** Applies the effects of several runs in their order, with a few statements for all of them. */
export function* applyTogether(session: Session, ends: readonly EffectiveEnd[]): Verb<void> {
  if (ends.length === 0) return
  const steps = ends.flatMap(({ follow, run }) => {
    const effect = endEffectOf(session.endEffects, follow)
    return effect === undefined ? [] : [{ effect, run, keys: effect.reads?.(run) ?? [] }]
  })
  const keys = [...new Map(steps.flatMap((step) => step.keys).map((key) => [textOf(key), key])).values()]
  yield* session.native.lockEntries(keys)
  const found = yield* stateValues(session, keys)
  const values = new Map(keys.map((key, i) => [textOf(key), found[i]]))
  const writes = new Map<string, StateWrite>()
  for (const { effect, run, keys: own } of steps) {
    const changes = effect.changes?.(
      run,
      own.map((key) => values.get(textOf(key))),
    )
    for (const change of changes ?? []) {
      const text = textOf(change)
      values.set(text, change.value)
      if (change.value === undefined) {
        yield* session.native.lockEntries([change])
        yield* writeTogether(session, writes)
        yield* writeStateEntry(session, change, run.at)
      } else writes.set(text, { change, at: run.at, changes: (writes.get(text)?.changes ?? 0) + 1 })
    }
  }
  yield* writeTogether(session, writes)
}

function* writeTogether(session: Session, writes: Map<string, StateWrite>): Verb<void> {
  const entries = [...writes.values()]
  writes.clear()
  yield* session.native.lockEntries(entries.map(({ change }) => change))
  yield* writeStateEntries(session, entries)
}

function textOf({ kind, name, item }: StateKey): string {
  return JSON.stringify([kind, name, item])
}

/** Writes the notice of a finally failed run, if its kind is watched. Its key is new, so no other writer conflicts. */
export function* noteFailure(
  session: Session,
  run: Pick<Unfinished, 'seq' | 'id' | 'job' | 'trigger'>,
  end: RunEnd,
): Verb<void> {
  const watch = yield* stateValue(session, watchKey)
  if (watch === undefined) return
  const ended = endedRunOf(run, (yield* session.sql.get<EndedRow>(ENDED, run.seq)) as EndedRow, end)
  const notice = failureNotice(ended, watch)
  if (notice === undefined) return
  session.tell('anything')
  yield* writeStateEntry(session, notice, end.at)
}
