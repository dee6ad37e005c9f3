import type * as Pg from 'pg'
import type { SqlAnswer, SqlCell, SqlQuestion } from './value.js'

/** The Postgres driver, loaded on demand; it is an optional peer dependency, so it may be missing. */
export async function loadPg(): Promise<typeof Pg> {
  try {
    return await import('pg')
  } catch (error) {
    throw new Error('Postgres needs the package pg: npm install pg', { cause: error })
  }
}

/**
 * Queries a Postgres database over a separate connection. The transaction is read-only, and the statement is sent alone:
 * it cannot end the transaction and continue outside it.
 */
export async function readPostgres(url: string, question: SqlQuestion): Promise<SqlAnswer> {
  const { Client } = await loadPg()
  const { timeoutMs, signal } = question
  const client = new Client({
    connectionString: url,
    application_name: 'rota sensor',
    connectionTimeoutMillis: timeoutMs,
  })
  // Without a listener a broken connection would crash the process; the query fails as well.
  client.on('error', () => undefined)
  const stop = (): void => void client.end()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await client.connect()
    return await answerOf(client, question)
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error })
  } finally {
    signal.removeEventListener('abort', stop)
    await client.end().catch(() => undefined)
  }
}

async function answerOf(client: Pg.Client, { sql, parameters, timeoutMs }: SqlQuestion): Promise<SqlAnswer> {
  // The texts of values must not depend on settings of the server or the role.
  await client.query(
    `begin read only;
    set local statement_timeout = ${Math.ceil(timeoutMs)};
    set local timezone = 'UTC'; set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres';
    set local bytea_output = 'hex'; set local extra_float_digits = 1`,
  )
  const result: Pg.QueryResult<(string | null)[]> = await client.query({
    text: sql,
    values: parameters.map(({ text }) => text ?? null),
    rowMode: 'array',
    queryMode: 'extended',
    types: { getTypeParser: () => (text) => text },
  })
  const oids = result.fields.map(({ dataTypeID }) => dataTypeID)
  return {
    columns: result.fields.map(({ name }) => name),
    rows: result.rows.map((row) => row.map((text, i) => cellOf(oids[i] ?? 0, text))),
  }
}

/** The numbers of Postgres types by their common names. */
const typeNumbers: Readonly<Record<string, readonly number[]>> = {
  boolean: [16],
  blob: [17],
  integer: [20, 21, 23, 26],
  real: [700, 701],
  numeric: [1700],
  text: [18, 19, 25, 1042, 1043],
  date: [1082],
  timestamp: [1114],
  timestamptz: [1184],
  uuid: [2950],
  json: [114],
  jsonb: [3802],
}

const types = new Map(
  Object.entries(typeNumbers).flatMap(([type, numbers]) => numbers.map((oid) => [oid, type] as const)),
)

/** A value with its type; types without a common name keep their number. */
function cellOf(oid: number, text: string | null): SqlCell {
  const type = types.get(oid) ?? `type ${oid}`
  return { type, text: text === null ? undefined : plainText(type, text) }
}

/** The canonical text of a value. */
function plainText(type: string, text: string): string {
  switch (type) {
    case 'boolean':
      return text === 't' ? 'true' : 'false'
    case 'blob':
      return text.slice(2)
    case 'numeric':
      return text.includes('.') ? text.replace(/\.?0+$/, '') : text
    case 'timestamptz':
      return /^\d{4}-\d\d-\d\d [\d:.]+\+00$/.test(text) ? `${text.slice(0, 10)}T${text.slice(11, -3)}Z` : text
    default:
      return text
  }
}

function reasonOf(error: unknown): string {
  const { message, code } = error as { message: string; code?: string }
  if (message === '') return code ?? 'the database did not answer'
  if (code === readOnlyTransaction)
    return `a function of the query writes, and a sensor only reads: ${message}`
  return code === undefined || message.includes(code) ? message : `${message} (${code})`
}

/** SQLSTATE read_only_sql_transaction. */
const readOnlyTransaction = '25006'
