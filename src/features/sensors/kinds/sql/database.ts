import { readPostgres } from './postgres.js'
import { readSqlite } from './sqlite.js'
import type { SqlAnswer, SqlQuestion } from './value.js'
import { nameWrite } from './write-word.js'
import { limited } from '../time-limit.js'

/** The database of a SQL sensor. */
export interface SqlDatabaseConfig {
  /** `sqlite:<path>` or `postgres://…`; undefined is the database of the store. */
  readonly url: string | undefined
  readonly timeoutMs: number
  /** The channel whose notifications wake the sensor, and where to listen if not at `url`. */
  readonly listen: { readonly channel: string; readonly url: string | undefined } | undefined
}

/** A database, parsed from its URL. */
export type SqlDatabase =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** The database of a URL; undefined if it is not the URL of a database. */
export function databaseOf(url: string): SqlDatabase | undefined {
  if (/^postgres(?:ql)?:\/\//.test(url)) return { kind: 'postgres', url }
  return /^sqlite:(?!$|:memory:)/.test(url)
    ? { kind: 'sqlite', path: url.slice('sqlite:'.length) }
    : undefined
}

/** Why a database cannot be read with these settings; undefined if it can. Does not connect: a database that is down may come back. */
export function refusalOf({ url, listen }: SqlDatabaseConfig): string | undefined {
  if (url === undefined) return 'the sensor has no database: set url'
  const database = databaseOf(url)
  if (database === undefined) return 'the store is not a database that can be read: set url'
  const hears = listen?.url !== undefined || database.kind === 'postgres'
  return listen === undefined || hears ? undefined : 'listen is for Postgres; SQLite has no notifications'
}

/** Queries the database; throws if it does not answer. */
export async function askDatabase(
  { url = '', timeoutMs }: SqlDatabaseConfig,
  question: Pick<SqlQuestion, 'sql' | 'parameters' | 'signal'>,
): Promise<SqlAnswer> {
  const database = databaseOf(url)
  if (database === undefined) throw new Error('the sensor has no database: set url')
  return await limited(question.signal, timeoutMs, async (signal) => {
    const timed = { ...question, timeoutMs, signal }
    try {
      return await (database.kind === 'postgres'
        ? readPostgres(database.url, timed)
        : readSqlite(database.path, timed))
    } catch (error) {
      throw new Error(nameWrite(question.sql, (error as Error).message), { cause: error })
    }
  })
}

/** The mark of the nth parameter in a dialect. */
export function parameterText(url: string, n: number): string {
  return databaseOf(url)?.kind === 'postgres' ? `$${n}` : '?'
}
