/**
 * A gate lets in at most so many runs. A run takes all its gates when it becomes ready and gives them back
 * when it leaves ready and running; one that meets a full gate takes none and waits there, outside the index
 * that claims read. So a claim never looks at a noisy key's backlog, and a freed gate looks at one run.
 *
 * Runs of one key or trigger share the gate of their job. When that one is full, only the most urgent of them
 * moves there and stands for the others; they follow one by one, each when the one before it has left that gate.
 */
import type { Gate } from '../../kernel/run/run.js'
import { gatesOf } from '../sql/rows/run-rows.js'
import { blocked, ready } from '../sql/rows/states.js'
import type { Session } from './session.js'

// Relies on: primary key. The write lock closes the race of two runs for the last place.
const ADMITTED = `select admitted from gates where key = ?`

const TAKE = `insert into gates (key, admitted) select ?1, 1 where ?2 >= 1
  on conflict (key) do update set admitted = admitted + 1 where admitted < ?2`

const GIVE_BACK = `update gates set admitted = admitted - 1 where key = ? and admitted > 1`

const GIVE_BACK_LAST = `delete from gates where key = ? and admitted = 1`

// Relies on: runs_blocked.
const MOST_URGENT = `select seq, job, gates from runs
  where state = ${blocked} and waits_for = ? order by priority desc, run_at, seq limit 1`

const LET_IN = `update runs set state = ${ready}, waits_for = null where seq = ?`

const WAIT_AT = `update runs set state = ${blocked}, waits_for = ? where seq = ?`

// Relies on: the primary key of gates, as a range.
const KEY_GATES = `select key from gates where key >= ? and key < ? order by key`

/** A run as its gates see it. */
export interface Gated {
  readonly job: string
  /** Its gates as they stand in its row. */
  readonly gates: string
}

/** Takes all gates of a run, or none and answers the key of the first full one. */
export function takeGates(session: Session, run: Gated): string | undefined {
  const gates = gatesOf(run.gates)
  for (const [taken, gate] of gates.entries()) {
    if (session.db.change(TAKE, gate.key, limitOf(session, run.job, gate)) === 1) continue
    for (const other of gates.slice(0, taken)) giveBack(session, other)
    return gate.key
  }
  return undefined
}

/** Counts a run that was admitted elsewhere. */
export function occupyGates(session: Session, gates: readonly Gate[]): void {
  for (const { key } of gates) session.db.change(TAKE, key, unlimited)
}

/** Gives back gates that were taken for nothing: nobody was let in or turned away since. */
export function untakeGates(session: Session, gates: string): void {
  for (const gate of gatesOf(gates)) giveBack(session, gate)
}

/** Makes a pending run that holds no gates ready, or lets it wait at the first full one, whose key is the answer. */
export function admit(session: Session, run: Gated & { readonly seq: number }): string | undefined {
  const full = takeGates(session, run)
  if (full === undefined) session.db.change(LET_IN, run.seq)
  else session.db.change(WAIT_AT, full, run.seq)
  return full
}

/** Gives back the gates of a run that has left ready and running, and lets in who waits there. */
export function releaseGates(session: Session, gates: string): void {
  const all = gatesOf(gates)
  for (const gate of all) giveBack(session, gate)
  letInWaiting(
    session,
    all.map((gate) => gate.key),
  )
}

/** Looks again at the gates of a run that waited and is gone: it may have stood there for others. */
export function leaveGates(session: Session, gates: string): void {
  letInWaiting(
    session,
    gatesOf(gates).map((gate) => gate.key),
  )
}

/** Lets waiting runs follow a changed definition of their job: its own limit first, then those of its keys. */
export function followLimits(session: Session, job: string): void {
  const keys = session.db.all<{ key: string }>(KEY_GATES, `key:${job}=`, `key:${job}>`)
  letInWaiting(session, [`job:${job}`, ...keys.map(({ key }) => key)])
}

/** The gates of a run as its row keeps them. */
export function gatesText(gates: readonly Gate[]): string | null {
  return gates.length === 0 ? null : JSON.stringify(gates.map(({ key, limit }) => [key, limit]))
}

/** The likelier way first: a gate for one run at a time has only that one to give back. */
function giveBack(session: Session, { key, limit }: Gate): void {
  const [first, second] = limit === 1 ? [GIVE_BACK_LAST, GIVE_BACK] : [GIVE_BACK, GIVE_BACK_LAST]
  if (session.db.change(first, key) === 0) session.db.change(second, key)
}

function letInWaiting(session: Session, keys: readonly string[]): void {
  const open = keys.toReversed()
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (let next = mostUrgent(session, key); next !== undefined; next = mostUrgent(session, key)) {
      const gates = gatesOf(next.gates)
      const own = gates.find((gate) => gate.key === key)
      if (own !== undefined && isFull(session, next.job, own)) break
      const waitsFor = admit(session, next)
      const jobGate = `job:${next.job}`
      if (waitsFor === jobGate) break
      if (waitsFor !== undefined && key !== jobGate) continue
      // It stands for nobody any more, so the others of its gates have to be looked at.
      const others = gates.map((gate) => gate.key).filter((other) => other !== key && other !== waitsFor)
      for (const other of others) if (!open.includes(other)) open.push(other)
    }
  }
}

function mostUrgent(session: Session, key: string): (Gated & { readonly seq: number }) | undefined {
  return session.db.get(MOST_URGENT, key)
}

function isFull(session: Session, job: string, gate: Gate): boolean {
  const admitted = (session.db.value(ADMITTED, gate.key) ?? 0) as number
  return admitted >= limitOf(session, job, gate)
}

const unlimited = Number.MAX_SAFE_INTEGER

/** A job's own limits are read from its definition each time, so that a change holds at once. */
function limitOf(session: Session, job: string, gate: Gate): number {
  const isOfJob = gate.key === `job:${job}`
  if (!isOfJob && !gate.key.startsWith(`key:${job}=`)) return gate.limit
  const definition = session.catalogNow.jobs.get(job)
  if (definition === undefined) return gate.limit
  return isOfJob ? (definition.concurrency ?? unlimited) : definition.concurrencyPerKey
}
