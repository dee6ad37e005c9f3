/**
 * A verb is what a store does in one transaction or one query: "cancel this run", "list the holds". It is written
 * once and runs on both drivers, although SQLite answers synchronously and Postgres does not.
 *
 * A verb is a generator function. It queries the database through `session.sql`, and `yield*` returns the answer:
 *
 *   export function* cancel(session: Session, request: Request): Verb<'cancelled' | 'absent'> {
 *     const run = yield* session.sql.get<RunRow>(RUN, request.run)
 *     if (run === undefined) return 'absent'
 *     yield* session.sql.change(END, run.seq)
 *     return 'cancelled'
 *   }
 *
 * On SQLite the answer is available immediately, so a verb never has to wait (`performNow`). On Postgres the verb
 * yields the promise of the answer and is resumed with its value (`perform`). A statement is sent when its method is
 * called, so statements that do not need each other's answers are performed `together`: Postgres gets them in one round
 * trip.
 *
 * - Statements are written in the dialect of `statement.ts`; each says the index it relies on and the race it closes.
 * - A verb gets everything else that it needs (the catalog, the highest time, exclusive access) from its `Session`.
 * - A verb catches no errors: a statement that fails ends the transaction, and with it the verb.
 *
 * docs/decisions/0043-sql-verbs.md says what this costs.
 */
import type { SqlScalar, SqlValue, Statement } from './statement.js'

/** An operation of a store; its driver awaits what it yields. */
export type Verb<T> = Iterable<unknown, T, unknown>

/** Rows for a statement of `insertInto`. */
export type Rows = readonly (readonly SqlScalar[])[]

/** The database as a verb sees it. */
export interface Sql {
  /** Performs a statement; returns how many rows it changed. */
  change(sql: Statement, ...values: readonly SqlValue[]): Verb<number>
  /** The first row. */
  get<Row>(sql: Statement, ...values: readonly SqlValue[]): Verb<Row | undefined>
  /** All rows. */
  all<Row>(sql: Statement, ...values: readonly SqlValue[]): Verb<Row[]>
  /** The first column of the first row; undefined if there is no row, or it is null. */
  value<T extends string | number>(sql: Statement, ...values: readonly SqlValue[]): Verb<T | undefined>
  /** Inserts rows; returns how many were inserted or changed. */
  insert(sql: Statement, rows: Rows): Verb<number>
  /** Inserts rows with a statement of `insertNewInto`; returns for each row whether it is new. */
  added(sql: Statement, rows: Rows): Verb<boolean[]>
  /** Performs verbs that do not need each other's answers. */
  together<const Verbs extends readonly Verb<unknown>[]>(...verbs: Verbs): Verb<Answers<Verbs>>
}

type Answers<Verbs extends readonly Verb<unknown>[]> = {
  -readonly [Place in keyof Verbs]: Verbs[Place] extends Verb<infer T> ? T : never
}

/** An answer that is already available. */
class Answer<T> implements Verb<T> {
  readonly done = true
  readonly value: T

  constructor(value: T) {
    this.value = value
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): this {
    return this
  }
}

/** An available answer as a verb. */
export function answered<T>(value: T): Verb<T> {
  return new Answer(value)
}

/** A promised answer as a verb. */
export function* awaited<T>(promise: Promise<T>): Verb<T> {
  return (yield promise) as T
}

/** Performs a verb whose answers are available immediately. */
export function performNow<T>(verb: Verb<T>): T {
  const step = verb[Symbol.iterator]().next()
  if (step.done !== true) throw new Error('A verb of a synchronous database had to wait')
  return step.value
}

/** Performs a verb whose answers are promises. */
export async function perform<T>(verb: Verb<T>): Promise<T> {
  const steps = verb[Symbol.iterator]()
  let step = steps.next()
  while (step.done !== true) step = steps.next(await step.value)
  return step.value
}
