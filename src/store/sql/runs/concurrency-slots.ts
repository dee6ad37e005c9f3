/**
 * A concurrency slot admits a limited number of runs. A run takes all its slots when it becomes ready, or when it is
 * claimed where it waits, and returns them when it leaves ready and running. A run that finds a full slot takes none and
 * waits there, outside the index that claims read. So a claim never reads the backlog of a noisy key, and a freed slot
 * examines one run.
 *
 * Runs of one key or trigger share the slot of their job. If that one is full, only the most urgent of them waits
 * there on behalf of the others; they follow one by one, each when the previous one has left that slot.
 *
 * A transaction that uses a slot holds its lock until it ends, or is the only writer, so no run reaches a slot while
 * another is leaving it.
 */
import { groupBy } from '../../../kernel/definition/group-by.js'
import type { Job } from '../../../kernel/job/job.js'
import type { ConcurrencySlot } from '../../../kernel/run/run.js'
import { slotsOf } from '../rows/run-rows.js'
import { blocked, ready } from '../rows/states.js'
import type { Session } from '../session.js'
import { each } from '../statement.js'
import type { Verb } from '../verb.js'
import type { WaitingRun } from './native-verbs.js'

// Relies on: primary key. The lock of the slot closes the race of two runs for the last place.
const ADMITTED = `select admitted from rota.gates where key = $1`

const TAKE = `insert into rota.gates as gate (key, admitted) select $1, 1 where $2::int8 >= 1
  on conflict (key) do update set admitted = gate.admitted + 1 where gate.admitted < $2::int8`

// Relies on: primary key. All of them have the same limit.
const TAKE_EACH = each({
  sqlite: TAKE,
  postgres: `insert into rota.gates as gate (key, admitted)
    select key, 1 from unnest($1::text[], $2::int8[]) given (key, most) where most >= 1
    on conflict (key) do update set admitted = gate.admitted + 1 where gate.admitted < ($2::int8[])[1]
    returning key`,
})

const GIVE_BACK = `update rota.gates set admitted = admitted - 1 where key = $1 and admitted > 1`

const GIVE_BACK_LAST = `delete from rota.gates where key = $1 and admitted = 1`

// Relies on: runs_blocked.
const MOST_URGENT = `select seq, job, gates from rota.runs
  where state = ${blocked} and waits_for = $1 order by priority desc, run_at, seq limit 1 for update`

// Relies on: primary key.
const ALL_ADMITTED = `select key, admitted from rota.gates where key = any($1::text[])`

const SET_ADMITTED = `update rota.gates set admitted = $1 where key = $2`

const EMPTY = `delete from rota.gates where key = any($1::text[])`

const LET_ALL_IN = `update rota.runs set state = ${ready}, waits_for = null where seq = any($1::int8[])`

const LET_IN = `update rota.runs set state = ${ready}, waits_for = null where seq = $1`

const WAIT_AT = `update rota.runs set state = ${blocked}, waits_for = $1 where seq = $2`

// Relies on: the primary key of gates, as a range.
const KEY_SLOTS = `select key from rota.gates where key >= $1 and key < $2 order by key`

/** A run that shares concurrency slots. */
export interface SlotRun {
  readonly job: string
  /** Its slots in the form of its row. */
  readonly gates: string
}

/** Takes all slots of a run, or takes none and returns the key of the first full one. */
export function* takeSlots(session: Session, run: SlotRun): Verb<string | undefined> {
  const slots = slotsOf(run.gates)
  yield* session.native.lockSlots(keysOf(slots))
  const definition = (yield* session.catalog()).jobs.get(run.job)
  for (const [taken, slot] of slots.entries()) {
    if ((yield* session.sql.change(TAKE, slot.key, limitOf(slot, run.job, definition))) === 1) continue
    yield* giveBack(session, slots.slice(0, taken))
    return slot.key
  }
  return undefined
}

/** Takes the slots of runs that have one different slot each; returns the keys of the full ones. */
export function* takeSingleSlots(
  session: Session,
  runs: readonly { readonly job: string; readonly slots: readonly ConcurrencySlot[] }[],
): Verb<ReadonlySet<string>> {
  const full = new Set<string>()
  if (runs.length === 0) return full
  yield* session.native.lockSlots(runs.flatMap(({ slots }) => keysOf(slots)))
  const { jobs } = yield* session.catalog()
  const byLimit = new Map<number, string[]>()
  for (const { job, slots } of runs) {
    const slot = slots[0] as ConcurrencySlot
    const limit = limitOf(slot, job, jobs.get(job))
    const keys = byLimit.get(limit)
    if (keys === undefined) byLimit.set(limit, [slot.key])
    else keys.push(slot.key)
  }
  for (const [limit, keys] of byLimit) {
    const taken = yield* session.sql.added(
      TAKE_EACH,
      keys.map((key) => [key, limit]),
    )
    for (const [i, key] of keys.entries()) if (taken[i] !== true) full.add(key)
  }
  return full
}

/** Counts a run that was admitted elsewhere. */
export function* occupySlots(session: Session, slots: readonly ConcurrencySlot[]): Verb<void> {
  for (const { key } of slots) yield* session.sql.change(TAKE, key, unlimited)
}

/** Returns slots that were not needed: no run was admitted or refused since. */
export function untakeSlots(session: Session, slots: string): Verb<unknown> {
  return giveBack(session, slotsOf(slots))
}

/** Makes a pending run without slots ready, or makes it wait at the first full one and returns the key of that. */
export function* admit(session: Session, run: SlotRun & { readonly seq: number }): Verb<string | undefined> {
  const full = yield* takeSlots(session, run)
  session.tell('runs')
  if (full === undefined) yield* session.sql.change(LET_IN, run.seq)
  else yield* session.sql.change(WAIT_AT, full, run.seq)
  return full
}

/** Returns the slots of a run that has left ready and running, and admits the runs that wait there. */
export function* releaseSlots(session: Session, slots: string): Verb<void> {
  const all = slotsOf(slots)
  yield* session.native.lockSlots(keysOf(all))
  yield* giveBack(session, all)
  yield* letInWaiting(session, keysOf(all))
}

/**
 * The same for several runs that ended one after the other. If each of them, and each run that waits there, has one
 * slot, the slots are independent: a few statements for all replace five for each run. If a run has several slots, the
 * order of the ends decides which run is admitted.
 *
 * Returns runs that are admitted but whose rows still wait. Until the caller has claimed them or let them in, slots must
 * not be released.
 */
export function* releaseAll(session: Session, ended: readonly string[]): Verb<readonly WaitingRun[]> {
  const admitted = ended.length > 1 ? yield* releaseTogether(session, ended) : undefined
  if (admitted === undefined) for (const slots of ended) yield* releaseSlots(session, slots)
  return admitted ?? []
}

/** Makes admitted runs ready. */
export function* letIn(session: Session, admitted: readonly WaitingRun[]): Verb<void> {
  if (admitted.length === 0) return
  session.tell('runs')
  yield* session.sql.change(
    LET_ALL_IN,
    admitted.map(({ seq }) => seq),
  )
}

/** Examines the slots of a run that no longer waits: it may have waited there on behalf of others. */
export function* leaveSlots(session: Session, slots: string): Verb<void> {
  const keys = keysOf(slotsOf(slots))
  yield* session.native.lockSlots(keys)
  yield* letInWaiting(session, keys)
}

/** Applies a changed definition of a job to its waiting runs: its own limit first, then those of its keys. */
export function* followLimits(session: Session, job: string): Verb<void> {
  const keys = yield* session.sql.all<{ key: string }>(KEY_SLOTS, `key:${job}=`, `key:${job}>`)
  yield* letInWaiting(session, [`job:${job}`, ...keysOf(keys)])
}

/** Formats the slots of a run for its row. */
export function slotsText(slots: readonly ConcurrencySlot[]): string | null {
  return slots.length === 0 ? null : JSON.stringify(slots.map(({ key, limit }) => [key, limit]))
}

/** A slot that runs have left. */
interface Freed {
  readonly key: string
  /** How many had it before. */
  readonly before: number
  readonly left: number
  readonly waiting: WaitingRun[]
}

/** Returns single slots together, if that is possible; the result are the runs that are admitted instead. */
function* releaseTogether(
  session: Session,
  ended: readonly string[],
): Verb<readonly WaitingRun[] | undefined> {
  const counts = countSingle(ended)
  if (counts === undefined) return undefined
  yield* session.native.lockSlots([...counts.keys()])
  const freed = yield* readFreed(session, counts)
  if (freed === undefined) return undefined
  const { jobs } = yield* session.catalog()
  const admitted: WaitingRun[] = []
  const empty: string[] = []
  const open: string[] = []
  for (const { key, before, left, waiting } of freed) {
    let now = before - left
    let limit = Infinity
    for (const run of waiting) {
      limit = limitOf(slotsOf(run.gates)[0] as ConcurrencySlot, run.job, jobs.get(run.job))
      if (now >= limit) break
      admitted.push(run)
      now += 1
    }
    if (now === 0) empty.push(key)
    else if (now !== before) yield* session.sql.change(SET_ADMITTED, now, key)
    // If the limit was raised, there is more room than runs have left.
    if (waiting.length === left && now < limit) open.push(key)
  }
  if (empty.length > 0) yield* session.sql.change(EMPTY, empty)
  if (open.length === 0) return admitted
  yield* letIn(session, admitted)
  yield* letInWaiting(session, open)
  return []
}

/** The slots with the runs that wait there; undefined if one of these has several slots, or a count is unexpected. */
function* readFreed(
  session: Session,
  counts: ReadonlyMap<string, number>,
): Verb<Iterable<Freed> | undefined> {
  const keys = [...counts.keys()]
  // As many as have left each slot, not more: one job with many ends beside many keys would read a square of rows.
  const keysByCount = groupBy(keys, (key) => counts.get(key) ?? 0)
  const [slots, ...waiting] = yield* session.sql.together(
    session.sql.all<{ key: string; admitted: number }>(ALL_ADMITTED, keys),
    ...[...keysByCount].map(([count, same]) => session.native.waiting(same, count)),
  )
  const freed = new Map<string, Freed>()
  for (const { key, admitted } of slots) {
    const left = counts.get(key) ?? 0
    if (admitted >= left) freed.set(key, { key, before: admitted, left, waiting: [] })
  }
  if (freed.size < keys.length) return undefined
  for (const run of waiting.flat()) {
    if (countSingle([run.gates])?.has(run.waits_for) !== true) return undefined
    freed.get(run.waits_for)?.waiting.push(run)
  }
  return freed.values()
}

/** How many of these runs had each slot; undefined if one of them had several. */
function countSingle(all: readonly string[]): Map<string, number> | undefined {
  const counts = new Map<string, number>()
  for (const text of all) {
    const [slot, second] = slotsOf(text)
    if (slot === undefined || second !== undefined) return undefined
    counts.set(slot.key, (counts.get(slot.key) ?? 0) + 1)
  }
  return counts
}

function keysOf(slots: readonly { readonly key: string }[]): string[] {
  return slots.map(({ key }) => key)
}

function giveBack(session: Session, slots: readonly ConcurrencySlot[]): Verb<unknown> {
  const [only] = slots
  if (slots.length === 1 && only !== undefined) return giveBackOne(session, only)
  return session.sql.together(...slots.map((slot) => giveBackOne(session, slot)))
}

/** The more likely case first: a slot with a limit of one has only that run to return. */
function* giveBackOne(session: Session, { key, limit }: ConcurrencySlot): Verb<void> {
  const [first, second] = limit === 1 ? [GIVE_BACK_LAST, GIVE_BACK] : [GIVE_BACK, GIVE_BACK_LAST]
  if ((yield* session.sql.change(first, key)) === 0) yield* session.sql.change(second, key)
}

function* letInWaiting(session: Session, keys: readonly string[]): Verb<void> {
  const open = keys.toReversed()
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (
      let next = yield* mostUrgent(session, key);
      next !== undefined;
      next = yield* mostUrgent(session, key)
    ) {
      const slots = slotsOf(next.gates)
      const own = slots.find((slot) => slot.key === key)
      if (own !== undefined && (yield* isFull(session, next.job, own))) break
      const waitsFor = yield* admit(session, next)
      const jobSlot = `job:${next.job}`
      if (waitsFor === jobSlot) break
      if (waitsFor !== undefined && key !== jobSlot) continue
      // It no longer waits on behalf of others, so its other slots must be examined.
      const others = keysOf(slots).filter((other) => other !== key && other !== waitsFor)
      for (const other of others) if (!open.includes(other)) open.push(other)
    }
  }
}

function mostUrgent(session: Session, key: string): Verb<(SlotRun & { readonly seq: number }) | undefined> {
  return session.sql.get(MOST_URGENT, key)
}

function* isFull(session: Session, job: string, slot: ConcurrencySlot): Verb<boolean> {
  const definition = (yield* session.catalog()).jobs.get(job)
  const admitted = (yield* session.sql.value<number>(ADMITTED, slot.key)) ?? 0
  return admitted >= limitOf(slot, job, definition)
}

const unlimited = Number.MAX_SAFE_INTEGER

/** The limits of a job are read from its definition each time, so that a change takes effect immediately. */
function limitOf(slot: ConcurrencySlot, job: string, definition: Job | undefined): number {
  if (definition === undefined) return slot.limit
  if (slot.key === `job:${job}`) return definition.concurrency ?? unlimited
  return slot.key.startsWith(`key:${job}=`) ? definition.concurrencyPerKey : slot.limit
}
