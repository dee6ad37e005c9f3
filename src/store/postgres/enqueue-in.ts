import { randomBytes } from 'node:crypto'
import { RotaError } from '../../kernel/definition/errors.js'
import { chainsOnly, type EndEffects } from '../../kernel/run/end-effect.js'
import type { NewRun } from '../../kernel/run/run.js'
import { deadlineChanges } from '../../kernel/sla/deadline.js'
import type { Instant } from '../../time/instant.js'
import type { Enqueued } from '../port.js'
import { endEffectCode, toJson } from '../sql/rows/run-rows.js'
import { readAddress } from './connection/address.js'
import { Statements } from './connection/database.js'
import { slotsText } from '../sql/runs/concurrency-slots.js'

/** A connection with an open transaction of its owner: a client of `pg`, or an object with the same `query`. */
export interface Transaction {
  query(text: string, values: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

// A transaction-local setting is lost without a transaction, and on another connection: RECORD then finds no mark.
const MARK = `select set_config('rota_enqueue.transaction', $1, true)`

// The condition uses no column, so it is evaluated before the function is called.
const RECORD = `select id, created from rota.record_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  where current_setting('rota_enqueue.transaction', true) = $12`

const DEADLINE = `insert into rota.notes (kind, name, item, revision, at, value) values ($1, $2, $3, 1, $4, $5)
  on conflict (kind, name, item) do nothing`

/** Records runs in the caller's own transaction: they exist if it commits, and do not if it rolls back. */
export async function enqueueIn(
  transaction: Transaction,
  request: { url: string; runs: readonly NewRun[]; now: Instant; endEffects?: EndEffects },
): Promise<Enqueued[]> {
  const { schema } = readAddress(request.url)
  const statements = new Statements({ schema, prepare: 'off' })
  const text = statements.text(RECORD)
  const answers: Enqueued[] = []
  const mark = randomBytes(8).toString('hex')
  await transaction.query(MARK, [mark])
  for (const run of request.runs) {
    const { rows } = await transaction.query(text, [...valuesOf(run, request), mark])
    if (rows[0] === undefined) throw notInTransaction()
    const answer = rows[0] as Enqueued
    answers.push(answer)
    for (const { kind, name, item, value } of answer.created ? deadlineChanges(run) : [])
      await transaction.query(statements.text(DEADLINE), [kind, name, item, request.now, toJson(value)])
  }
  return answers
}

/** Without a transaction the run would stay even if the caller's other changes fail. */
function notInTransaction(): RotaError {
  const message = 'the connection has no open transaction, and nothing was enqueued'
  const allowed =
    'a client on which `begin` was called, and which a pool has given out: a pool itself takes any connection'
  const faults = [{ path: 'tx', message, allowed }]
  return new RotaError('DEFINITION_INVALID', `tx: ${message} (allowed: ${allowed})`, { faults })
}

function valuesOf(
  run: NewRun,
  { now, endEffects = chainsOnly }: { now: Instant; endEffects?: EndEffects },
): readonly unknown[] {
  return [
    run.id,
    run.job,
    run.priority,
    run.dueAt,
    now,
    toJson(run.payload),
    run.partition ?? null,
    slotsText(run.slots),
    endEffectCode(endEffects, run.endEffect),
    run.uniqueKey ?? null,
    run.uniqueUntil ?? null,
  ]
}
