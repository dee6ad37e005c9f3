import { expect, it } from 'vitest'
import { DAY_MS } from '../../../time/civil.js'
import { mostItems } from '../bulk.js'
import { findBulk, listBulks, removeOldBulks } from '../store-bulks.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { performBatch } from '../perform.js'
import { selectRuns } from '../select.js'
import { emptyStore, newApp, record } from './stage.js'

const kinds = ['memory', 'sqlite', 'files']

it.each(kinds)('an action on many runs is done to each of them once (%s)', async (kind) => {
  const app = await newApp(await emptyStore(kind))
  const ids = await record(app, 250)
  const cancel = await app.bulk.start({ action: 'cancel', filter: 'job:work', reason: 'wrong day' })
  expect(cancel).toMatchObject({
    count: 251,
    isCapped: false,
    skipped: {},
    bulk: { state: 'running', total: 251 },
  })
  const ended = await app.bulk.perform(cancel.bulk?.id ?? '')
  expect(ended).toMatchObject({ state: 'done', done: 251, skipped: {}, failed: 0 })
  expect(await app.runs.get(ids[7] ?? '')).toMatchObject({ state: 'cancelled', reason: 'wrong day' })

  const retry = await app.bulk.start({ action: 'retry', filter: 'state:cancelled', limit: 100 })
  expect(retry).toMatchObject({ count: 100, isCapped: true })
  expect(await app.bulk.perform(retry.bulk?.id ?? '')).toMatchObject({ done: 100 })
  expect(await (await app.store()).countRuns({ state: 'pending' }, 999)).toMatchObject({ count: 100 })

  const again = await app.bulk.start({ action: 'run', filter: 'state:cancelled' })
  expect(await app.bulk.perform(again.bulk?.id ?? '')).toMatchObject({ done: 151, total: 151 })
  const manual = await app.runs.list({ origin: 'manual', limit: 999 })
  expect(manual).toHaveLength(151)
  expect(manual[0]).toMatchObject({ job: 'work', payload: 'x', state: 'pending' })
  expect((await app.bulk.list()).map(({ action }) => action)).toEqual(['run', 'retry', 'cancel'])
})

it('a dry run says how many, shows examples and what is skipped, and changes nothing', async () => {
  const app = await newApp(await emptyStore('memory'))
  const ids = await record(app, 30)
  const plan = await app.bulk.start({ action: 'advance', filter: 'state:pending', dryRun: true })
  expect(plan).toMatchObject({ count: 31, isCapped: false, bulk: undefined })
  expect(plan.examples).toHaveLength(20)
  const named = await app.bulk.start({
    action: 'retry',
    ids: [ids[0] ?? '', ids[0] ?? '', '0'.repeat(36)],
    dryRun: true,
  })
  expect(named).toMatchObject({ count: 0, skipped: { 'not-final': 1, absent: 1 } })
  expect(await app.bulk.list()).toEqual([])
})

it.each([
  [{ action: 'retry' }, /filter: neither a filter nor ids are given/],
  [{ action: 'retry', filter: '  ' }, /it is empty and would match all runs/],
  [{ action: 'retry', filter: 'sate:failed' }, /character 1: "sate" is not a name/],
  [{ action: 'drop', filter: 'job:a' }, /action/],
  [{ action: 'retry', filter: 'job:a', limit: 10_001 }, /limit/],
  [{ action: 'retry', ids: [] }, /ids: it is not a list of ids/],
  [{ action: 'retry', ids: ['abc'] }, /entry 1 is not the full id/],
  [{ action: 'retry', ids: ['0'.repeat(36)], filter: 'job:a' }, /a filter is given too/],
])('the request %j is refused', async (request, message) => {
  const app = await newApp(await emptyStore('memory'))
  await expect(app.bulk.start(request as never)).rejects.toThrow(message)
})

it('a bulk that was aborted does nothing more', async () => {
  const app = await newApp(await emptyStore('sqlite'))
  await record(app, 250)
  const { bulk } = await app.bulk.start({ action: 'cancel', filter: 'job:work' })
  const id = bulk?.id ?? ''
  const store = await app.store()
  const stored = await findBulk(store, id)
  expect(await performBatch(store, stored, 1)).toBe('moved')
  // A process that read the bulk before the abort is too late, even if it has done its batch.
  expect(await performBatch(store, stored, 1)).toBe('stale')
  const second = await findBulk(store, id)
  expect(await app.bulk.abort(id)).toMatchObject({ wasRunning: true, bulk: { state: 'aborted', done: 100 } })
  expect(await performBatch(store, second, 1)).toBe('stale')
  expect(await app.bulk.abort(id)).toMatchObject({ wasRunning: false })
  expect(await app.bulk.perform(id)).toMatchObject({ state: 'aborted', done: 100 })
  expect(await store.countRuns({ state: 'cancelled' }, 999)).toMatchObject({ count: 100 })
  const actions = (await store.auditPage({ limit: 2 })).map(({ action, target }) => `${action} ${target}`)
  expect(actions).toEqual([`bulk.abort bulk:${id}`, 'bulk.cancel runs:job:work'])
  await expect(app.bulk.get('nothing')).rejects.toThrow(/BULK_UNKNOWN|there is no bulk/)
})

it('two processes at the same time change each run once', async () => {
  const app = await newApp(await emptyStore('sqlite'))
  await record(app, 999)
  for (const action of ['cancel', 'run', 'retry'] as const) {
    const filter = action === 'cancel' ? 'job:work' : 'state:cancelled'
    const { bulk } = await app.bulk.start({ action, filter })
    const [one] = await Promise.all([app.bulk.perform(bulk?.id ?? ''), app.bulk.perform(bulk?.id ?? '')])
    expect(one).toMatchObject({ state: 'done', failed: 0, total: 1000, done: 1000, skipped: {} })
  }
  const store = await app.store()
  expect(await store.countRuns({ origin: 'manual' }, 9999)).toMatchObject({ count: 1000 })
  expect(await store.countRuns({ state: 'pending' }, 9999)).toMatchObject({ count: 2000 })
})

it('a run that cannot be changed fails alone, and the bulk ends as failed', async () => {
  const app = await newApp(await emptyStore('sqlite'))
  const [poison = ''] = await record(app, 249)
  const opened = await app.store()
  let tries = 0
  const store = new Proxy(opened, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target)
      if (key !== 'changeRuns') return typeof value === 'function' ? (value.bind(target) as unknown) : value
      return async (request: Parameters<typeof opened.changeRuns>[0]) => {
        tries += 1
        if (request.action !== 'record' && request.runs.includes(poison))
          throw new TypeError('its payload cannot be read')
        return await opened.changeRuns(request)
      }
    },
  })
  const { bulk } = await app.bulk.start({ action: 'cancel', filter: 'job:work' })
  const id = bulk?.id ?? ''
  for (let i = 0; i < 3; i += 1) expect(await performBatch(store, await findBulk(store, id), 1)).toBe('moved')
  expect(await app.bulk.get(id)).toMatchObject({
    state: 'failed',
    done: 249,
    failed: 1,
    errors: [{ run: poison, message: 'its payload cannot be read' }],
  })
  expect(tries).toBeLessThanOrEqual(103)
  expect(await store.countRuns({ state: 'cancelled' }, 999)).toMatchObject({ count: 249 })
})

it('no run fails while the store is unreachable: the batch is tried again', async () => {
  const app = await newApp(await emptyStore('memory'))
  await record(app, 9)
  const { bulk } = await app.bulk.start({ action: 'cancel', filter: 'job:work' })
  const stored = await findBulk(await app.store(), bulk?.id ?? '')
  const away = new RotaError('STORE_AWAY', 'the server is away')
  const opened = await app.store()
  const store = new Proxy(opened, {
    get: (target, key) =>
      key === 'changeRuns'
        ? () => Promise.reject(away)
        : ((Reflect.get(target, key, target) as () => unknown).bind(target) as unknown),
  })
  await expect(performBatch(store, stored, 1)).rejects.toBe(away)
  expect(await app.bulk.perform(stored.bulk.id)).toMatchObject({ state: 'done', done: 10 })
})

it('runs are selected in bounded queries, even if few of many match', async () => {
  const app = await newApp(await emptyStore('sqlite'))
  const old = await app.enqueue('work', 'old', { delay: '1m', concurrencyKey: 'k' })
  await record(app, 12_000)
  const opened = await app.store()
  const looks: (number | undefined)[] = []
  const store = new Proxy(opened, {
    get: (target, key) => {
      if (key === 'runs') throw new Error('unbounded')
      const value = (Reflect.get(target, key, target) as () => unknown).bind(target) as unknown
      if (key !== 'runsPage') return value
      return (filter: Parameters<typeof opened.runsPage>[0]) => {
        looks.push(filter.look)
        return opened.runsPage(filter)
      }
    },
  })
  const now = app.now().getTime()
  const conditions = { labels: { nobody: 'has it' } }
  const few = { action: 'cancel', selection: { conditions }, limit: 10, now } as const
  expect(await selectRuns(store, few)).toMatchObject({ ids: [], isCapped: false })
  expect(looks.length).toBeGreaterThan(1)
  const oldest = { conditions: { untilAt: now + 120_000 } }
  expect(await selectRuns(store, { ...few, selection: oldest })).toMatchObject({ ids: [old.id] })
})

it('a started app performs a bulk of another process, and removes it after thirty days', async () => {
  const store = await emptyStore('sqlite')
  const app = await newApp(store)
  await record(app, 300)
  await app.start()
  const { bulk } = await app.bulk.start({ action: 'cancel', filter: 'job:work' })
  const id = bulk?.id ?? ''
  await expect.poll(async () => (await app.bulk.get(id)).state, { timeout: 10_000 }).toBe('done')
  expect(await app.bulk.get(id)).toMatchObject({ done: 301, skipped: {} })
  const opened = await app.store()
  const now = app.now().getTime()
  expect(await removeOldBulks(opened, now + 29 * DAY_MS)).toBe(0)
  expect(await removeOldBulks(opened, now + 31 * DAY_MS)).toBe(1)
  expect(await listBulks(opened)).toEqual([])
  expect(await opened.stateEntries({ kind: 'bulk', limit: 99 })).toEqual([])
})

it('ten thousand runs are the limit', async () => {
  const app = await newApp(await emptyStore('sqlite'))
  await record(app, mostItems + 5)
  const { bulk, isCapped } = await app.bulk.start({ action: 'cancel', filter: 'job:work' })
  const ended = await app.bulk.perform(bulk?.id ?? '')
  expect(isCapped).toBe(true)
  expect(ended).toMatchObject({ total: mostItems, done: mostItems })
}, 60_000)
