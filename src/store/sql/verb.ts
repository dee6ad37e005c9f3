/**
 * A verb is what a store does in one transaction or one question: "cancel this run", "list the holds". It is written
 * once and runs on both drivers, although SQLite answers at once and Postgres answers later.
 *
 * A verb is a generator function. It never touches a driver: it yields requests ("the first row of this statement
 * with these values") and is resumed with the answers. `yield*` before each request keeps the type of its answer:
 *
 *   export function* cancel(session: Session, request: Request): Verb<'cancelled' | 'absent'> {
 *     const run = yield* get<RunRow>(RUN, request.run)
 *     if (run === undefined) return 'absent'
 *     yield* change(END, run.seq)
 *     return 'cancelled'
 *   }
 *
 * SQLite performs it in one go (`performNow`), Postgres awaits each answer (`perform`). A request costs 0.1 to 0.2 µs
 * more than a direct call of the driver. Requests that do not need each other's answers are handed in `together`:
 * Postgres then sends them in one journey.
 *
 * - Statements are written in the dialect of `statement.ts`; each says the index it relies on and the race it closes.
 * - What a verb needs besides rows (the catalog, the highest time, being the only writer) it asks of its `Session`.
 * - A verb catches nothing: a statement that fails ends the transaction, and with it the verb.
 */
import type { SqlScalar, SqlValue, Statement } from './statement.js'

/** One statement, and which part of its answer is wanted. */
export interface Query {
  /** The method of the driver that answers it. */
  readonly want: 'change' | 'get' | 'all' | 'value'
  readonly sql: Statement
  readonly values: readonly SqlValue[]
}

/** Rows for a statement of `insertInto`; at least one. */
export interface Insertion {
  readonly want: 'insert' | 'added'
  readonly sql: Statement
  readonly rows: readonly (readonly SqlScalar[])[]
}

/** What a verb may yield: something for the driver, or verbs that may be performed at the same time. */
export type Request =
  | Query
  | Insertion
  | { readonly want: 'together'; readonly verbs: readonly Verb<unknown>[] }

/** A piece of work in a store, to be performed by a driver. */
export type Verb<T> = Generator<Request, T, unknown>

/** How many rows a statement changed. */
export function* change(sql: Statement, ...values: readonly SqlValue[]): Verb<number> {
  return (yield { want: 'change', sql, values }) as number
}

/** The first row. */
export function* get<Row>(sql: Statement, ...values: readonly SqlValue[]): Verb<Row | undefined> {
  return (yield { want: 'get', sql, values }) as Row | undefined
}

/** All rows. */
export function* all<Row>(sql: Statement, ...values: readonly SqlValue[]): Verb<Row[]> {
  return (yield { want: 'all', sql, values }) as Row[]
}

/** The first column of the first row; undefined where there is no row, or null in it. */
export function* value<T extends string | number>(
  sql: Statement,
  ...values: readonly SqlValue[]
): Verb<T | undefined> {
  return (yield { want: 'value', sql, values }) as T | undefined
}

/** Inserts rows; how many there are now that were not there, or were changed. */
export function* insert(sql: Statement, rows: readonly (readonly SqlScalar[])[]): Verb<number> {
  return rows.length === 0 ? 0 : ((yield { want: 'insert', sql, rows }) as number)
}

/** Inserts rows with a statement of `insertNewInto`; for each row whether it is new. */
export function* added(sql: Statement, rows: readonly (readonly SqlScalar[])[]): Verb<boolean[]> {
  return rows.length === 0 ? [] : ((yield { want: 'added', sql, rows }) as boolean[])
}

/** Performs verbs that do not need each other's answers. */
export function* together<const Verbs extends readonly Verb<unknown>[]>(
  ...verbs: Verbs
): Verb<Answers<Verbs>> {
  return (yield { want: 'together', verbs }) as Answers<Verbs>
}

type Answers<Verbs extends readonly Verb<unknown>[]> = {
  [Place in keyof Verbs]: Verbs[Place] extends Verb<infer T> ? T : never
}

/** A driver: a method for each thing that may be wanted, which gives its answer or a promise of it. */
export interface Driver {
  change(sql: Statement, ...values: readonly SqlValue[]): unknown
  get(sql: Statement, ...values: readonly SqlValue[]): unknown
  all(sql: Statement, ...values: readonly SqlValue[]): unknown
  value(sql: Statement, ...values: readonly SqlValue[]): unknown
  insert(sql: Statement, rows: readonly (readonly SqlScalar[])[]): unknown
  added(sql: Statement, rows: readonly (readonly SqlScalar[])[]): unknown
}

function answer(driver: Driver, request: Query | Insertion): unknown {
  switch (request.want) {
    case 'change':
      return driver.change(request.sql, ...request.values)
    case 'get':
      return driver.get(request.sql, ...request.values)
    case 'all':
      return driver.all(request.sql, ...request.values)
    case 'value':
      return driver.value(request.sql, ...request.values)
    case 'insert':
      return driver.insert(request.sql, request.rows)
    case 'added':
      return driver.added(request.sql, request.rows)
  }
}

/** Performs a verb on a driver that answers at once. */
export function performNow<T>(verb: Verb<T>, driver: Driver): T {
  let step = verb.next()
  while (step.done !== true) {
    const request = step.value
    step = verb.next(
      request.want === 'together'
        ? request.verbs.map((one) => performNow(one, driver))
        : answer(driver, request),
    )
  }
  return step.value
}

/** Performs a verb on a driver that answers later. */
export async function perform<T>(verb: Verb<T>, driver: Driver): Promise<T> {
  let step = verb.next()
  while (step.done !== true) {
    const request = step.value
    step = verb.next(
      request.want === 'together'
        ? await Promise.all(request.verbs.map((one) => perform(one, driver)))
        : await answer(driver, request),
    )
  }
  return step.value
}
