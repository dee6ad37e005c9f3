import type { NewRun } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import type { Enqueued } from '../port.js'
import { endEffectCode, originCode, toJson } from '../sql/rows/run-rows.js'
import { blocked, delayed, ready } from '../sql/rows/states.js'
import { gatesText, takeGates } from './gates.js'
import type { Session } from './session.js'
import { uniqueHolder } from './unique.js'

// Relies on: the unique index of runs.id, which closes the race of two processes for one id.
const INSERT = `insert into rota.runs (id, job, state, priority, run_at, due_at, created_at, origin, payload, trigger,
    version, partition, gates, waits_for, follow, unique_key, unique_until, labels)
  select id, job, state, priority, run_at, due_at, $1, origin, payload, trigger, version, partition, gates, waits_for,
    follow, unique_key, unique_until, labels
  from unnest($2::text[], $3::text[], $4::int2[], $5::int8[], $6::int8[], $7::int8[], $8::int2[], $9::text[],
    $10::text[], $11::int4[], $12::text[], $13::text[], $14::text[], $15::int2[], $16::text[], $17::int8[], $18::text[])
    given (id, job, state, priority, run_at, due_at, origin, payload, trigger, version, partition, gates, waits_for,
      follow, unique_key, unique_until, labels)
  on conflict (id) do nothing returning id`

// The usual run has nothing but these.
const INSERT_PLAIN = `insert into rota.runs (id, job, state, priority, run_at, due_at, created_at, origin, payload)
  select id, job, case when run_at <= $1 then ${ready} else ${delayed} end, priority, run_at, due_at, $1, origin, payload
  from unnest($2::text[], $3::text[], $4::int8[], $5::int8[], $6::int8[], $7::int2[], $8::text[])
    given (id, job, priority, run_at, due_at, origin, payload)
  on conflict (id) do nothing returning id`

// Relies on: the unique index of runs.id.
const EXISTS = `select 1 from rota.runs where id = $1`

/** What is to be recorded. */
export interface EnqueueRequest {
  readonly runs: readonly NewRun[]
  readonly now: Instant
}

/** Records what several callers asked for; what they asked for in the same moment goes in together. */
export async function enqueueAll(
  session: Session,
  requests: readonly EnqueueRequest[],
): Promise<readonly Enqueued[][]> {
  const answers: Enqueued[][] = []
  while (answers.length < requests.length) {
    const start = answers.length
    const { now } = requests[start] as EnqueueRequest
    let end = start + 1
    while (requests[end]?.now === now) end++
    const together = requests.slice(start, end)
    const enqueued = await enqueue(session, { runs: together.flatMap(({ runs }) => runs), now })
    let first = 0
    for (const { runs } of together) answers.push(enqueued.slice(first, (first += runs.length)))
  }
  return answers
}

/** Whether recording a run touches nothing but its own row. */
export function isPlain({ gates, uniqueKey }: NewRun): boolean {
  return gates.length === 0 && uniqueKey === undefined
}

/** Records runs, or finds those that stand for them. */
async function enqueue(session: Session, { runs, now }: EnqueueRequest): Promise<Enqueued[]> {
  session.remembered.noteTime(now)
  session.hasNews = true
  const answers: Enqueued[] = []
  while (answers.length < runs.length) {
    const start = answers.length
    let end = start
    while (end < runs.length && isPlain(runs[end] as NewRun)) end++
    if (end > start) answers.push(...(await insertPlain(session, runs.slice(start, end), now)))
    else answers.push(await enqueueOne(session, runs[start] as NewRun, now))
  }
  return answers
}

/** Records runs of any kind in their order; one whose id exists stays as it is. */
export async function insertRuns(session: Session, runs: readonly NewRun[], now: Instant): Promise<void> {
  if (runs.length > 0) session.hasNews = true
  if (runs.every(isPlain)) {
    if (runs.length > 0) await insertPlain(session, runs, now)
    return
  }
  for (const run of runs) await insertRun(session, run, now)
}

async function enqueueOne(session: Session, run: NewRun, now: Instant): Promise<Enqueued> {
  session.beExclusive()
  const { db } = session
  if (run.uniqueKey !== undefined && (await db.value(EXISTS, run.id)) === undefined) {
    const holder = await uniqueHolder(session, { job: run.job, key: run.uniqueKey, now })
    if (holder !== undefined) return { id: holder, created: false }
  }
  return { id: run.id, created: await insertRun(session, run, now) }
}

async function insertRun(session: Session, run: NewRun, now: Instant): Promise<boolean> {
  const gates = gatesText(run.gates)
  // A run that exists must not take its gates a second time.
  if (gates !== null && (await session.db.value(EXISTS, run.id)) !== undefined) return false
  const isDue = run.runAt <= now
  const waitsFor = gates !== null && isDue ? await takeGates(session, { job: run.job, gates }) : undefined
  const state = !isDue ? delayed : waitsFor === undefined ? ready : blocked
  return (await insert(session, [{ run, state, waitsFor }], now)).size === 1
}

async function insertPlain(session: Session, runs: readonly NewRun[], now: Instant): Promise<Enqueued[]> {
  const created = runs.every(isBare)
    ? await insertBare(session, runs, now)
    : await insert(
        session,
        runs.map((run) => ({ run, state: run.runAt <= now ? ready : delayed, waitsFor: undefined })),
        now,
      )
  // Of two with one id in one batch the first is the one that was recorded.
  return runs.map(({ id }) => ({ id, created: created.delete(id) }))
}

/** Whether a run is recorded in the usual way: nothing but its own row, and nothing but what every run has. */
export function isPlainRun(run: NewRun): boolean {
  return isPlain(run) && isBare(run)
}

/** Whether a run has nothing but what every run has. */
function isBare(run: NewRun): boolean {
  return (
    run.trigger === undefined &&
    run.version === undefined &&
    run.partition === undefined &&
    run.labels === undefined &&
    run.endEffect === undefined &&
    run.uniqueUntil === undefined
  )
}

async function insertBare({ db }: Session, runs: readonly NewRun[], now: Instant): Promise<Set<string>> {
  const created = await db.changed<{ id: string }>(
    INSERT_PLAIN,
    now,
    runs.map(({ id }) => id),
    runs.map(({ job }) => job),
    runs.map(({ priority }) => priority),
    runs.map(({ runAt }) => runAt),
    runs.map(({ dueAt }) => dueAt),
    runs.map(({ origin }) => originCode(origin)),
    runs.map(({ payload }) => toJson(payload)),
  )
  return new Set(created.map(({ id }) => id))
}

async function insert(
  { db, endEffects }: Session,
  rows: readonly { run: NewRun; state: number; waitsFor: string | undefined }[],
  now: Instant,
): Promise<Set<string>> {
  const runs = rows.map(({ run }) => run)
  const created = await db.changed<{ id: string }>(
    INSERT,
    now,
    runs.map(({ id }) => id),
    runs.map(({ job }) => job),
    rows.map(({ state }) => state),
    runs.map(({ priority }) => priority),
    runs.map(({ runAt }) => runAt),
    runs.map(({ dueAt }) => dueAt),
    runs.map(({ origin }) => originCode(origin)),
    runs.map(({ payload }) => toJson(payload)),
    runs.map(({ trigger = null }) => trigger),
    runs.map(({ version = null }) => version),
    runs.map(({ partition = null }) => partition),
    runs.map(({ gates }) => gatesText(gates)),
    rows.map(({ waitsFor = null }) => waitsFor),
    runs.map(({ endEffect }) => endEffectCode(endEffects, endEffect)),
    runs.map(({ uniqueKey = null }) => uniqueKey),
    runs.map(({ uniqueUntil = null }) => uniqueUntil),
    runs.map(({ labels }) => toJson(labels)),
  )
  return new Set(created.map(({ id }) => id))
}
