import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { rota, type Rota } from '../../src/app/rota.js'
import { jobDefaults } from '../../src/kernel/job/job.js'
import type { Store } from '../../src/store/port.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js'
import { systemClock } from '../../src/time/clock.js'
import { emptyDirectory } from '../cli/rota.js'
import { PostgresServer } from '../fixtures/postgres.js'
import type { StoreKind } from './served.js'

/** The size of a store. */
export interface BigStoreOptions {
  readonly store?: StoreKind
  readonly triggers: number
  /** The number of past runs, distributed over the first triggers. */
  readonly runs: number
  /** How many of the triggers have runs. */
  readonly busy: number
  /** The age of the oldest run. */
  readonly overMs: number
}

const source = 'code:big'
const day = 24 * 3_600_000

/** A store with a large history, and a server for its dashboard without scheduler and worker. */
export class BigStore {
  readonly #app: Rota
  readonly #directory: string
  readonly #postgres: PostgresServer | undefined
  /** The address of the dashboard. */
  readonly url: string

  private constructor(parts: {
    app: Rota
    directory: string
    postgres: PostgresServer | undefined
    url: string
  }) {
    this.#app = parts.app
    this.#directory = parts.directory
    this.#postgres = parts.postgres
    this.url = parts.url
  }

  /** Fills a store and serves it. */
  static async start(options: BigStoreOptions): Promise<BigStore> {
    const directory = emptyDirectory()
    const path = join(directory, 'rota.db')
    const postgres = options.store === 'postgres' ? await PostgresServer.start() : undefined
    const url = await postgres?.createDatabase()
    const now = systemClock.now()
    const clock = systemClock
    const store =
      url === undefined
        ? await openSqliteStore({ path, durability: 'normal', clock })
        : await openPostgresStore({ url, clock })
    await define(store, options, now)
    await store.close()
    if (postgres === undefined || url === undefined) fill(path, options, now)
    else await fillPostgres(postgres, { ...options, url, now })
    const app = rota({ store: url ?? `sqlite:${path}`, app: 'big' })
    const { port } = await app.listen({ port: 0 })
    return new BigStore({ app, directory, postgres, url: `http://127.0.0.1:${port}` })
  }

  /** Ends the server and removes the store. */
  async close(): Promise<void> {
    await this.#app.close()
    await this.#postgres?.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** The name of a trigger of a big store. */
export function bigName(index: number): string {
  return `trigger-${String(index).padStart(6, '0')}`
}

async function define(
  store: Store,
  { triggers, busy, overMs, runs }: BigStoreOptions,
  now: number,
): Promise<void> {
  const jobs = Array.from({ length: 100 }, (_, index) => ({ ...jobDefaults, name: `job-${index}` }))
  await store.defineJobs({ source, jobs, queues: [], now })
  const everyMs = Math.max(1000, Math.round((overMs * busy) / runs))
  const batch = Array.from({ length: triggers }, (_, index) => ({
    name: bigName(index),
    source,
    revision: 0,
    now: now - overMs - day,
    trigger: {
      name: bigName(index),
      job: `job-${index % 100}`,
      schedule:
        index < busy
          ? ({ kind: 'interval', everyMs, anchorAt: 0 } as const)
          : ({
              kind: 'cron',
              expression: `${index % 60} ${index % 24} * * *`,
              timezone: 'Europe/Berlin',
            } as const),
      catchUp: { mode: 'latest', maxRuns: 1, graceMs: 60_000 },
      overlap: 'allow',
      jitterMs: 0,
      spreadMs: 0,
      enabled: true,
    } as const,
    fingerprint: String(index),
    tzdata: '2026a',
    cursorAt: now,
    nextAt: now + day,
    cancelPending: false,
  }))
  for (let index = 0; index < batch.length; index += 5000) {
    await store.defineTriggers(
      batch.slice(index, index + 5000) as unknown as Parameters<typeof store.defineTriggers>[0],
    )
  }
}

/** SQL for the first ten characters of a run id: its due time in base 32, so that ids sort by due time. */
const instantSql = Array.from(
  { length: 10 },
  (_, place) =>
    `substr('0123456789abcdefghjkmnpqrstvwxyz', cast((due >> ${45 - 5 * place}) & 31 as integer) + 1, 1)`,
).join(' || ')

/** Inserts the history with plain SQL, which is the only way that is fast enough. One run in 97 has failed. */
function fill(path: string, { runs, busy, overMs }: BigStoreOptions, now: number): void {
  const db = new DatabaseSync(path)
  db.exec('pragma synchronous = off')
  const step = overMs / runs
  db.exec(`begin; with recursive n(i) as (select 0 union all select i + 1 from n where i < ${runs} - 1)
    insert into runs (id, job, state, priority, run_at, due_at, attempt, claimed_at, started_at, finished_at, created_at,
      origin, trigger, version)
    select ${instantSql} || printf('%026x', i), 'job-' || (i % ${busy} % 100),
      case when i % 97 = 0 then 5 else 4 end, 0, due, due, 1, due + 5, due + 9, due + 1000 + i % 9000, due, 0,
      printf('trigger-%06d', i % ${busy}), 1
    from (select i, cast(${now - overMs} + i * ${step} as integer) as due from n); commit`)
  db.exec('analyze')
  db.close()
}

/** The same for Postgres. */
async function fillPostgres(
  postgres: PostgresServer,
  { url, now, runs, busy, overMs }: BigStoreOptions & { readonly url: string; readonly now: number },
): Promise<void> {
  const client = await postgres.connect(url)
  await client.query(`insert into rota.runs (id, job, state, priority, run_at, due_at, attempt, claimed_at, started_at,
      finished_at, created_at, origin, trigger, version)
    select ${instantSql} || lpad(to_hex(i), 26, '0'),
      'job-' || (i % ${busy} % 100), case when i % 97 = 0 then 5 else 4 end, 0, due, due, 1, due + 5, due + 9,
      due + 1000 + i % 9000, due, 0, 'trigger-' || lpad((i % ${busy})::text, 6, '0'), 1
    from (select i, (${now - overMs} + i * ${overMs / runs}::float8)::bigint as due
      from generate_series(0, ${runs - 1}) as i) as n`)
  await client.query('analyze')
  await postgres.release(client)
}
