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

/** The kind of the database of a URL; undefined if it is not the URL of a database. */
export function databaseKindOf(url: string): 'postgres' | 'sqlite' | undefined {
  if (/^postgres(?:ql)?:\/\//.test(url)) return 'postgres'
  return /^sqlite:(?!$|:memory:)/.test(url) ? 'sqlite' : undefined
}

/** Why a database cannot be read with these settings; undefined if it can. Does not connect: a database that is down may come back. */
export function refusalOf({ url, listen }: SqlDatabaseConfig): string | undefined {
  if (url === undefined) return 'the sensor has no database: set url'
  const kind = databaseKindOf(url)
  if (kind === undefined) return 'the store is not a database that can be read: set url'
  const hears = listen?.url !== undefined || kind === 'postgres'
  return listen === undefined || hears ? undefined : 'listen is for Postgres; SQLite has no notifications'
}

/** Queries the database; throws if it does not answer. */
export async function askDatabase(
  { url = '', timeoutMs }: SqlDatabaseConfig,
  question: Pick<SqlQuestion, 'sql' | 'parameters' | 'signal'>,
): Promise<SqlAnswer> {
  const kind = databaseKindOf(url)
  if (kind === undefined) throw new Error('the sensor has no database: set url')
  return await limited(question.signal, timeoutMs, async (signal) => {
    const timed = { ...question, timeoutMs, signal }
    try {
      return await (kind === 'postgres'
        ? readPostgres(url, timed)
        : readSqlite(url.slice('sqlite:'.length), timed))
    } catch (error) {
      throw new Error(nameWrite(question.sql, (error as Error).message), { cause: error })
    }
  })
}

/** The mark of the nth parameter in a dialect. */
export function parameterText(url: string, n: number): string {
  return databaseKindOf(url) === 'postgres' ? `$${n}` : '?'
}
