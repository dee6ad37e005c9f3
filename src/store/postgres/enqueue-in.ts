import type { NewRun } from '../../model/run.js'
import type { Instant } from '../../time/instant.js'
import type { Enqueued } from '../store.js'
import { followCode, toJson } from '../sql/rows.js'
import { readAddress } from './address.js'
import { Statements } from './database.js'
import { gatesText } from './gates.js'

/** A connection that is in a transaction of its owner: a client of `pg`, or anything that asks like one. */
export interface Transaction {
  query(text: string, values: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

const RECORD = `select id, created from rota.record_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

/** Records runs in somebody's own transaction: they are there when it commits, and never were when it does not. */
export async function enqueueIn(
  transaction: Transaction,
  request: { url: string; runs: readonly NewRun[]; now: Instant },
): Promise<Enqueued[]> {
  const { schema } = readAddress(request.url)
  const text = new Statements({ schema, prepare: false }).text(RECORD)
  const answers: Enqueued[] = []
  for (const run of request.runs) {
    const { rows } = await transaction.query(text, valuesOf(run, request.now))
    answers.push(rows[0] as Enqueued)
  }
  return answers
}

function valuesOf(run: NewRun, now: Instant): readonly unknown[] {
  return [
    run.id,
    run.job,
    run.priority,
    run.dueAt,
    now,
    toJson(run.payload),
    run.partition ?? null,
    gatesText(run.gates),
    followCode(run.follow),
    run.uniqueKey ?? null,
    run.uniqueUntil ?? null,
  ]
}
