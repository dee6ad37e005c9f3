import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { rota, type Rota } from '../../src/app/rota.js'
import { jobDefaults } from '../../src/kernel/job/job.js'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js'
import { systemClock } from '../../src/time/clock.js'
import { emptyDirectory } from '../cli/rota.js'

/** How much a store holds. */
export interface BigStoreOptions {
  readonly triggers: number
  /** Runs over the time before now; they belong to the first triggers in turn. */
  readonly runs: number
  /** How many of the triggers have runs. */
  readonly busy: number
  /** How far back the runs reach. */
  readonly overMs: number
}

const source = 'code:big'
const day = 24 * 3_600_000

/** A SQLite store with a large history, and a server of its dashboard that plans and performs nothing. */
export class BigStore {
  readonly #app: Rota
  readonly #directory: string
  /** The address of the dashboard. */
  readonly url: string

  private constructor(app: Rota, directory: string, url: string) {
    this.#app = app
    this.#directory = directory
    this.url = url
  }

  /** Fills a store and serves it. */
  static async start(options: BigStoreOptions): Promise<BigStore> {
    const directory = emptyDirectory()
    const path = join(directory, 'rota.db')
    const now = systemClock.now()
    await define(path, options, now)
    fill(path, options, now)
    const app = rota({ store: `sqlite:${path}`, app: 'big' })
    const { port } = await app.listen({ port: 0 })
    return new BigStore(app, directory, `http://127.0.0.1:${port}`)
  }

  /** Ends the server and removes the store. */
  async close(): Promise<void> {
    await this.#app.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** The name of a trigger of a big store. */
export function bigName(index: number): string {
  return `trigger-${String(index).padStart(6, '0')}`
}

async function define(
  path: string,
  { triggers, busy, overMs, runs }: BigStoreOptions,
  now: number,
): Promise<void> {
  const store = await openSqliteStore({ path, durability: 'normal', clock: systemClock })
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
  await store.close()
}

/** Puts the history in with plain SQL: nothing else is fast enough. One run in 97 has failed. */
function fill(path: string, { runs, busy, overMs }: BigStoreOptions, now: number): void {
  const db = new DatabaseSync(path)
  db.exec('pragma synchronous = off')
  const step = overMs / runs
  db.exec(`begin; with recursive n(i) as (select 0 union all select i + 1 from n where i < ${runs} - 1)
    insert into runs (id, job, state, priority, run_at, due_at, attempt, claimed_at, started_at, finished_at, created_at,
      origin, trigger, version)
    select strftime('%Y%m%dT%H%M%S', due / 1000, 'unixepoch') || 'Z_' || printf('%016x', i), 'job-' || (i % ${busy} % 100),
      case when i % 97 = 0 then 5 else 4 end, 0, due, due, 1, due + 5, due + 9, due + 1000 + i % 9000, due, 0,
      printf('trigger-%06d', i % ${busy}), 1
    from (select i, cast(${now - overMs} + i * ${step} as integer) as due from n); commit`)
  db.exec('analyze')
  db.close()
}
