import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { rota, type Rota } from '../../../app/rota.js'
import { BusProcesses } from './bus-process.js'
import { PostgresServer } from '../../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../../test/fixtures/postgres-store.js'

let server: PostgresServer
let stores: PostgresStores
let store: string
let processes: BusProcesses
/** Records runs of a job for which it has no worker. */
let client: Rota

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

beforeEach(() => {
  store = stores.fresh()
  processes = new BusProcesses(store)
  client = rota({ store, app: 'owner' })
  client.job('check', () => expect.unreachable())
  onTestFinished(async () => {
    await processes.kill()
    await client.close()
  })
})

const hintsOnly = { isPolling: false } as const

describe('N9: a subscriber on another host, without a slow poll,', () => {
  it('gets the runs of a scheduler without a worker, with all data, and performs each task once', async () => {
    await processes.start({ role: 'subscriber', ...hintsOnly })
    await processes.start({ role: 'scheduler' })
    await processes.until(() => processes.taken.length >= 4)
    const { taken, told } = processes
    const runs = (await client.runs.list({ trigger: 'job_123', limit: 100 }))
      .toReversed()
      .slice(0, taken.length)
    expect(taken.map(({ task }) => task)).toEqual(runs.map(({ dueAt }) => `cron_job_123_${dueAt.getTime()}`))
    expect(runs.map(({ attempt }) => attempt)).toEqual(runs.map(() => 1))
    expect(told.filter(({ event }) => event === 'unexpected')).toEqual([])
    const [first] = told.filter((one) => one.event === 'offered')
    const payload = { command: 'check_status', user_id: 'user1', metadata: { room: 'a' } }
    expect(first?.offer).toMatchObject({
      run: runs[0]?.id,
      job: 'check',
      trigger: 'job_123',
      schedule: 'every 500ms',
      attempt: 0,
      task: { id: `cron_job_123_${runs[0]?.dueAt.getTime()}`, type: 'cron', payload },
    })
  })

  it('takes runs while all slots of the worker are occupied', async () => {
    await processes.start({ role: 'busy' })
    const held = await client.enqueue('check')
    await processes.until(() => processes.told.some(({ event }) => event === 'busy'))
    await processes.start({ role: 'subscriber', ...hintsOnly })
    for (let i = 0; i < 5; i++) {
      const { id } = await client.enqueue('check')
      await processes.until(() => processes.taken.some(({ run }) => run === id))
      expect(await client.runs.wait(id)).toMatchObject({ state: 'done', attempt: 1, result: 'taken' })
    }
    expect(processes.taken.length).toBe(5)
    expect((await client.runs.get(held.id)).state).toBe('running')
  })

  it('shares tasks with another subscriber: each task is performed by one of them', async () => {
    await Promise.all([1, 2].map(() => processes.start({ role: 'subscriber', ...hintsOnly })))
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await client.enqueue('check')).id))
    const runs = await Promise.all(ids.map((id) => client.runs.wait(id)))
    expect(runs.map(({ state, attempt }) => ({ state, attempt }))).toEqual(
      runs.map(() => ({ state: 'done', attempt: 1 })),
    )
    await processes.until(() => processes.taken.length >= ids.length)
    expect(processes.taken.map(({ run }) => run).toSorted()).toEqual(ids.toSorted())
  })

  it('is offered the run of a killed subscriber after the lease', async () => {
    const first = await processes.start({ role: 'subscriber', isStuck: true, ...hintsOnly })
    const { id } = await client.enqueue('check')
    await processes.until(() => processes.taken.length === 1)
    await processes.kill(first)
    const second = await processes.start({ role: 'subscriber', ...hintsOnly })
    expect(await client.runs.wait(id)).toMatchObject({ state: 'done', attempt: 2, crashes: 1 })
    expect(processes.taken.map(({ pid, attempt }) => ({ pid, attempt }))).toEqual([
      { pid: first, attempt: 1 },
      { pid: second, attempt: 2 },
    ])
    expect((await client.runs.attempts(id)).map(({ end }) => end)).toEqual(['lost', 'done'])
  })

  it('reads what it missed as soon as it listens again after a lost connection', async () => {
    await processes.start({ role: 'subscriber', ...hintsOnly })
    for (let i = 0; i < 3; i++) {
      await cutListeners()
      const { id } = await client.enqueue('check')
      expect(await client.runs.wait(id)).toMatchObject({ state: 'done', attempt: 1 })
    }
  })
})

it('N9: a subscriber without notifications finds waiting runs with its slow poll', async () => {
  const nowhere = encodeURIComponent('postgres://nobody@127.0.0.1:1/nothing')
  await processes.start({ role: 'subscriber' }, `${store}&listen=${nowhere}`)
  const { id } = await client.enqueue('check')
  expect(await client.runs.wait(id)).toMatchObject({ state: 'done', attempt: 1 })
})

/** Ends the sessions that listen for notifications of the store, as soon as there are any. */
async function cutListeners(): Promise<void> {
  const schema = new URL(store).searchParams.get('schema')
  const sql = 'select pg_terminate_backend(pid) from pg_stat_activity where query = $1'
  for (let cut = 0; cut === 0; ) {
    const { rowCount } = await stores.client.query(sql, [`listen "rota:${schema}"`])
    cut = rowCount ?? 0
  }
}
