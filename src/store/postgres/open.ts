import type { Client } from 'pg'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Clock } from '../../time/clock.js'
import type { Connections } from './connection/connections.js'
import { Database, type Statements } from './connection/database.js'
import { isAway, isForbidden, toRotaError } from './connection/errors.js'
import { missingRights } from './rights.js'
import { migrations, schemaVersion } from './schema.js'

/** The options for opening a Postgres store. */
export interface OpenOptions {
  readonly connections: Connections
  readonly statements: Statements
  readonly url: string
  /** Whether a missing store is created. */
  readonly create: boolean
  readonly clock: Clock
  /** Ends the wait for a server that cannot be reached. */
  readonly signal?: AbortSignal | undefined
}

/** Older servers lack features that the statements use. */
const oldestVersion = 140_000

/** How long to wait for a server that cannot be reached. */
const openLimitMs = 5000

const SERVER = `select current_setting('server_version_num')::int8 as number,
  current_setting('server_version') as version, pg_backend_pid() as process`

const SCHEMA = `select 1 from pg_namespace where nspname = $1`

const TABLES = `select
    exists (select 1 from pg_tables where schemaname = $1 and tablename = 'meta') as has_meta,
    exists (select 1 from pg_tables where schemaname = $1) as has_tables`

const VERSION = `select version, compatible_from from rota.meta where id = 1`

const WRITE_VERSION = `insert into rota.meta (id, version, compatible_from) values (1, $1, $2)
  on conflict (id) do update set version = excluded.version, compatible_from = excluded.compatible_from`

/** What was found at an address. */
export interface Opened {
  /** Whether the address is that of a pooler. */
  readonly isPooled: boolean
}

/** Creates the store if the schema is new, migrates it, and refuses a schema of another program. */
export async function openSchema(options: OpenOptions): Promise<Opened> {
  const { connections, clock, url, signal } = options
  const startMs = clock.monotonicMs()
  for (;;) {
    try {
      return await connections.use((client) => prepareOrExplain(client, options))
    } catch (error) {
      const isOver = signal?.aborted === true || clock.monotonicMs() - startMs > openLimitMs
      if (!isAway(error) || isOver) throw toRotaError(error, url)
    }
    await clock.sleep(250, signal)
  }
}

/** If the role lacks a right, explains which one. */
async function prepareOrExplain(client: Client, options: OpenOptions): Promise<Opened> {
  const { statements, url } = options
  const db = new Database(client, statements)
  const isPooled = await assertServer(db, client, url)
  try {
    await prepare(client, options)
  } catch (error) {
    if (!isForbidden(error)) throw error
    const todo = await missingRights(db, statements.schema)
    throw new RotaError('STORE_URL', `${url}: ${todo} (Postgres: ${error.message})`, { cause: error })
  }
  return { isPooled }
}

async function prepare(client: Client, options: OpenOptions): Promise<void> {
  const { statements, url, create } = options
  const db = new Database(client, statements)
  const found = await versionOf(db, options)
  if (found === undefined && !create) {
    throw new RotaError(
      'STORE_NOT_FOUND',
      `${url}: there is no Rota store in the schema ${statements.schema}`,
    )
  }
  if (found === undefined || found.version < schemaVersion) await migrate(client, options)
  const { compatible_from: compatibleFrom } = (await versionOf(db, options)) as SchemaRow
  if (compatibleFrom <= schemaVersion) return
  throw new RotaError(
    'STORE_VERSION',
    `${url}: the store was made by a newer Rota (it needs schema ${compatibleFrom}, this one knows ${schemaVersion}); update Rota`,
  )
}

interface ServerRow {
  readonly number: number
  readonly version: string
  readonly process: number
}

/** Refuses a server that is too old; returns whether the connection goes through a pooler. */
async function assertServer(db: Database, client: Client, url: string): Promise<boolean> {
  const server = (await db.get<ServerRow>(SERVER)) as ServerRow
  if (server.number >= oldestVersion) return server.process !== client.processID
  throw new RotaError(
    'STORE_VERSION',
    `${url}: PostgreSQL ${server.version} is too old; 14 or newer is needed`,
  )
}

interface SchemaRow {
  readonly version: number
  readonly compatible_from: number
}

/** The version of the schema; undefined if it is missing or empty. A schema of another program is refused. */
async function versionOf(
  db: Database,
  { statements, url }: Pick<OpenOptions, 'statements' | 'url'>,
): Promise<SchemaRow | undefined> {
  const tables = await db.get<{ has_meta: boolean; has_tables: boolean }>(TABLES, statements.schema)
  if (tables?.has_meta === true) return await db.get<SchemaRow>(VERSION)
  if (tables?.has_tables !== true) return undefined
  throw new RotaError(
    'STORE_CORRUPT',
    `${url}: the schema ${statements.schema} has tables of another program; use another schema with ?schema=`,
  )
}

/** Migrating a store with a long history takes time. */
const patienceMs = 24 * 3_600_000

/** Takes the missing steps in one transaction. The lock lets one process do it, and the others find it done. */
async function migrate(client: Client, options: OpenOptions): Promise<void> {
  const { statements } = options
  const db = new Database(client, statements)
  await client.query(
    `begin isolation level read committed; set local statement_timeout = 0;
      select pg_advisory_xact_lock(${statements.lockKey})`,
  )
  try {
    // A role that owns only its schema may not create schemas, so an existing one is not created again.
    const hasSchema = (await db.value(SCHEMA, statements.schema)) !== undefined
    if (!hasSchema) await client.query(`create schema ${client.escapeIdentifier(statements.schema)}`)
    const from = (await versionOf(db, options))?.version ?? 0
    for (const { version, compatibleFrom, statements: steps } of migrations) {
      if (version <= from) continue
      const text = steps.map((sql) => statements.text(sql)).join(';\n')
      await client.query({ text, query_timeout: patienceMs })
      await db.change(WRITE_VERSION, version, compatibleFrom)
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}
