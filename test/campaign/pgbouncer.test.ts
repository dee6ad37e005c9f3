import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rota, type Rota } from '../../src/index.js'
import { conformance } from '../../src/store/conformance/conformance.js'
import { hasPgbouncer, Pgbouncer } from '../fixtures/pgbouncer.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'

const stories = Number(process.env['STORIES'] ?? 30)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

/** Fewer than the connections of one process. */
const poolSize = 2

const isHere = hasPgbouncer()
if (!isHere) console.log('skipped: there is no pgbouncer; install the package of that name')
else console.log(`${Pgbouncer.version()}, ${poolSize} connections, ${stories} stories, seed ${seed}`)

describe.skipIf(!isHere)('behind PgBouncer in transaction mode', () => {
  let server: PostgresServer
  let stores: PostgresStores
  let pgbouncer: Pgbouncer

  beforeAll(async () => {
    server = await PostgresServer.start()
    stores = await PostgresStores.on(server)
    pgbouncer = await Pgbouncer.before(stores.database, poolSize)
  })

  afterAll(async () => {
    await pgbouncer.stop()
    await server.stop()
  })

  conformance('pooled Postgres', () => stores.open((url) => pgbouncer.url(url)), { stories, seed })

  it('two hosts perform everything once, and no session of the pool keeps anything of them', async () => {
    const store = `${pgbouncer.url(stores.fresh())}&listen=${encodeURIComponent(stores.database)}`
    const performed: string[] = []
    const [one, other] = [host(), host()]
    await one.start()
    await other.start()
    const enqueued = Array.from({ length: 500 }, (_, i) =>
      (i % 2 === 0 ? one : other).enqueue(i % 5 === 0 ? 'narrow' : 'note'),
    )
    for (const { id } of await Promise.all(enqueued)) expect((await one.runs.wait(id)).state).toBe('done')
    await one.stop()
    await other.stop()
    expect([performed.length, new Set(performed).size]).toEqual([500, 500])
    const { rows } = await stores.client.query(
      `select count(*) from pg_locks where locktype = 'advisory'
        union all select count(*) from pg_stat_activity where query like 'listen%' and application_name = 'rota'`,
    )
    expect(rows).toEqual([{ count: '0' }, { count: '0' }])

    function host(): Rota {
      const app = rota({ store, app: 'hosts', lease: '5s' })
      const note = (run: { id: string }): void => void performed.push(run.id)
      app.job('note', note)
      app.job('narrow', note, { concurrency: 1 })
      return app
    }
  }, 60_000)

  it('a store without an address to listen at works, and says so', async () => {
    const app = rota({ store: pgbouncer.url(stores.fresh()), app: 'deaf' })
    app.job('note', () => undefined)
    await app.start()
    const { id } = await app.enqueue('note')
    expect((await app.runs.wait(id)).state).toBe('done')
    const findings = await app.doctor()
    expect(findings.filter(({ level }) => level !== 'ok').map(({ todo }) => todo)).toEqual([
      expect.stringContaining('listen='),
    ])
    await app.stop()
  })

  it('prepare=on is refused with advice if the pooler does not keep prepared statements', async () => {
    const app = rota({ store: `${pgbouncer.url(stores.fresh())}&prepare=on`, app: 'prepared' })
    app.job('note', () => undefined)
    const started = app.start().then(() => app.enqueue('note'))
    const refusal: unknown = await started.then(
      () => undefined,
      (error: unknown) => error,
    )
    await app.stop({ grace: 0 }).catch(() => undefined)
    // From 1.21 on it can be configured to keep them.
    if (refusal !== undefined) expect((refusal as Error).message).toContain('prepare=on')
  }, 60_000)
})
