/**
 * A gate lets in at most so many runs. A run takes all its gates when it becomes ready and gives them back
 * when it leaves ready and running; one that meets a full gate takes none and waits there, outside the index
 * that claims read. So a claim never looks at a noisy key's backlog, and a freed gate looks at one run.
 *
 * Runs of one key or trigger share the gate of their job. When that one is full, only the most urgent of them
 * moves there and stands for the others; they follow one by one, each when the one before it has left that gate.
 *
 * Whoever touches a gate is the only writer, so that nobody comes to a gate while somebody else is leaving it.
 */
import type { Gate } from '../../kernel/run/run.js'
import type { Catalog } from '../sql/catalog.js'
import { gatesOf } from '../sql/rows/run-rows.js'
import { blocked, ready } from '../sql/rows/states.js'
import type { Session } from './session.js'

// Relies on: primary key. Being alone closes the race of two runs for the last place.
const ADMITTED = `select admitted from rota.gates where key = $1`

const TAKE = `insert into rota.gates as gate (key, admitted) select $1, 1 where $2::int8 >= 1
  on conflict (key) do update set admitted = gate.admitted + 1 where gate.admitted < $2::int8`

const GIVE_BACK = `with given as (select unnest($1::text[]) as key), last as (
    delete from rota.gates using given where gates.key = given.key and admitted <= 1
  )
  update rota.gates set admitted = admitted - 1 from given where gates.key = given.key and admitted > 1`

// Relies on: runs_blocked.
const MOST_URGENT = `select seq, job, gates from rota.runs
  where state = ${blocked} and waits_for = $1 order by priority desc, run_at, seq limit 1`

const LET_IN = `update rota.runs set state = ${ready}, waits_for = null where seq = $1`

const WAIT_AT = `update rota.runs set state = ${blocked}, waits_for = $1 where seq = $2`

// Relies on: the primary key of gates, as a range.
const KEY_GATES = `select key from rota.gates where key >= $1 and key < $2 order by key`

/** A run as its gates see it. */
export interface Gated {
  readonly job: string
  /** Its gates as they stand in its row. */
  readonly gates: string
}

/** Takes all gates of a run, or none and answers the key of the first full one. */
export async function takeGates(session: Session, run: Gated): Promise<string | undefined> {
  session.beExclusive()
  const gates = gatesOf(run.gates)
  const catalog = await session.catalogNow()
  for (const [taken, gate] of gates.entries()) {
    if ((await session.db.change(TAKE, gate.key, limitOf(catalog, run.job, gate))) === 1) continue
    await giveBack(session, gates.slice(0, taken))
    return gate.key
  }
  return undefined
}

/** Counts a run that was admitted elsewhere. */
export async function occupyGates(session: Session, gates: readonly Gate[]): Promise<void> {
  for (const { key } of gates) await session.db.change(TAKE, key, unlimited)
}

/** Makes a pending run that holds no gates ready, or lets it wait at the first full one, whose key is the answer. */
export async function admit(
  session: Session,
  run: Gated & { readonly seq: number },
): Promise<string | undefined> {
  const full = await takeGates(session, run)
  session.hasNews = true
  if (full === undefined) await session.db.change(LET_IN, run.seq)
  else await session.db.change(WAIT_AT, full, run.seq)
  return full
}

/** Gives back the gates of a run that has left ready and running, and lets in who waits there. */
export async function releaseGates(session: Session, gates: string): Promise<void> {
  session.beExclusive()
  const all = gatesOf(gates)
  await giveBack(session, all)
  await letInWaiting(
    session,
    all.map((gate) => gate.key),
  )
}

/** Looks again at the gates of a run that waited and is gone: it may have stood there for others. */
export async function leaveGates(session: Session, gates: string): Promise<void> {
  session.beExclusive()
  await letInWaiting(
    session,
    gatesOf(gates).map((gate) => gate.key),
  )
}

/** Lets waiting runs follow a changed definition of their job: its own limit first, then those of its keys. */
export async function followLimits(session: Session, job: string): Promise<void> {
  const keys = await session.db.all<{ key: string }>(KEY_GATES, `key:${job}=`, `key:${job}>`)
  await letInWaiting(session, [`job:${job}`, ...keys.map(({ key }) => key)])
}

/** The gates of a run as its row keeps them. */
export function gatesText(gates: readonly Gate[]): string | null {
  return gates.length === 0 ? null : JSON.stringify(gates.map(({ key, limit }) => [key, limit]))
}

async function giveBack(session: Session, gates: readonly Gate[]): Promise<void> {
  if (gates.length > 0)
    await session.db.change(
      GIVE_BACK,
      gates.map(({ key }) => key),
    )
}

async function letInWaiting(session: Session, keys: readonly string[]): Promise<void> {
  const open = keys.toReversed()
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (
      let next = await mostUrgent(session, key);
      next !== undefined;
      next = await mostUrgent(session, key)
    ) {
      const gates = gatesOf(next.gates)
      const own = gates.find((gate) => gate.key === key)
      if (own !== undefined && (await isFull(session, next.job, own))) break
      const waitsFor = await admit(session, next)
      const jobGate = `job:${next.job}`
      if (waitsFor === jobGate) break
      if (waitsFor !== undefined && key !== jobGate) continue
      // It stands for nobody any more, so the others of its gates have to be looked at.
      const others = gates.map((gate) => gate.key).filter((other) => other !== key && other !== waitsFor)
      for (const other of others) if (!open.includes(other)) open.push(other)
    }
  }
}

async function mostUrgent(
  session: Session,
  key: string,
): Promise<(Gated & { readonly seq: number }) | undefined> {
  return await session.db.get(MOST_URGENT, key)
}

async function isFull(session: Session, job: string, gate: Gate): Promise<boolean> {
  const admitted = ((await session.db.value(ADMITTED, gate.key)) ?? 0) as number
  return admitted >= limitOf(await session.catalogNow(), job, gate)
}

const unlimited = Number.MAX_SAFE_INTEGER

/** A job's own limits are read from its definition each time, so that a change holds at once. */
function limitOf(catalog: Catalog, job: string, gate: Gate): number {
  const isOfJob = gate.key === `job:${job}`
  if (!isOfJob && !gate.key.startsWith(`key:${job}=`)) return gate.limit
  const definition = catalog.jobs.get(job)
  if (definition === undefined) return gate.limit
  return isOfJob ? (definition.concurrency ?? unlimited) : definition.concurrencyPerKey
}
