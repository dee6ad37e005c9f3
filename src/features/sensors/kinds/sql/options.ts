import { fault, shown, within, type Place } from '../../../../kernel/definition/faults.js'
import { choice, duration, type TableValues } from '../../../../kernel/definition/option-table.js'
import { isMap } from '../../../../kernel/definition/read-value.js'
import { writeAtStart } from './write-word.js'
import { databaseKindOf, type SqlDatabaseConfig } from './database.js'

/** The options of every SQL sensor. */
export interface SqlDatabaseOptions {
  /** `sqlite:<path>` or `postgres://…`; default: the database of the store. */
  readonly url?: string | undefined
  /** The time limit of a query; default: 30 s. */
  readonly timeout?: string | number | undefined
  /** A Postgres channel whose notifications wake the sensor immediately; with another URL if `url` is that of a pooler. */
  readonly listen?: string | { readonly channel: string; readonly url?: string | undefined } | undefined
  /** `now` ignores what exists at the first poll; default: `beginning`. */
  readonly startFrom?: 'beginning' | 'now' | undefined
}

/** The readers of the options of every SQL sensor. */
export const databaseTable = {
  url: readUrl,
  timeout: duration({ min: 1, max: 600_000, allowed: 'from 1 ms to 10m' }, 30_000),
  listen: readListen,
  startFrom: choice('beginning', 'now'),
}

/** Checks the options of the database against each other. */
export function databaseConfig(
  read: TableValues<typeof databaseTable>,
  place: Place,
): SqlDatabaseConfig & Pick<typeof read, 'startFrom'> {
  const { url, timeout: timeoutMs, listen, startFrom } = read
  if (listen !== undefined && listen.url === undefined && url?.startsWith('sqlite:') === true) {
    fault(within(place, 'listen'), 'SQLite has no notifications', 'a sensor on Postgres')
  }
  return { url, timeoutMs, listen, startFrom }
}

/** The URL is never shown: it may contain a password. */
function readUrl(value: unknown, place: Place): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && databaseKindOf(value) !== undefined) return value
  return fault(place, 'not the address of a database', 'sqlite:<path> or postgres://…')
}

function readListen(value: unknown, place: Place): SqlDatabaseConfig['listen'] {
  if (value === undefined) return undefined
  const { channel, url } = isMap(value) ? value : { channel: value }
  if (typeof channel !== 'string' || channel === '' || Buffer.byteLength(channel) > 63) {
    return fault(place, `${shown(channel)} is not a channel`, 'a name of 1 to 63 bytes')
  }
  if (url === undefined) return { channel, url }
  const isPostgres = typeof url === 'string' && databaseKindOf(url) === 'postgres'
  return isPostgres ? { channel, url } : fault(within(place, 'url'), 'not an address', 'postgres://…')
}

/** A query of the user, without a final semicolon, so that it can be nested in another one. */
export function readQuery(value: unknown, place: Place): string | undefined {
  const text = typeof value === 'string' ? value.trim().replace(/;$/, '').trimEnd() : ''
  const write = writeAtStart(text)
  if (write !== undefined) return fault(place, `${write} writes, and a sensor only reads`, 'a SELECT')
  if (text !== '' && text.length <= maxQueryLength) return text
  return fault(place, `${shown(value)} is not a query`, `a SELECT of at most ${maxQueryLength} characters`)
}

const maxQueryLength = 20_000
