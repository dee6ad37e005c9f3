import { hostname } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import { settle } from '../../../test/fixtures/engine-stage.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { rota } from '../rota.js'

const t0 = Date.UTC(2026, 0, 5)
const second = 1000

describe('app.workers', () => {
  it('shows which processes are live, have missed a heartbeat, or have an expired lease', async () => {
    const { app, clock, store } = await started()
    const process = { host: 'b', pid: 7, version: '0', roles: ['worker'], slots: 2 }
    await store.register({ ...process, id: 'silent', now: t0, leaseMs: 30 * second })
    const standings = async () =>
      (await app.workers.list()).map(({ host, standing }) => `${host} ${standing}`)
    const own = `${hostname()} live`
    expect(await standings()).toEqual(['b live', own].toSorted())
    await clock.advance(21 * second, settle)
    expect(await standings()).toEqual(['b late', own].toSorted())
    // Another process sees it before its runs are taken over.
    const { workersOf } = await import('./workers.js')
    const later = await workersOf(store, t0 + 31 * second)
    expect(later.find(({ id }) => id === 'silent')?.standing).toBe('gone')
    await clock.advance(20 * second, settle)
    expect(await standings()).toEqual([own])
  })

  it('shows the load of this process, and an unknown load for an older release', async () => {
    const { app, store } = await started()
    await store.register({ id: 'old', host: 'z', pid: 1, version: '0', now: t0, leaseMs: 60 * second })
    expect(await app.workers.list()).toMatchObject([
      { host: hostname(), roles: ['scheduler', 'worker'], running: 0, slots: 3 },
      { id: 'old', roles: ['worker'], slots: undefined },
    ])
  })
})

describe('app.drain', () => {
  it('reaches every process of a host, and only those', async () => {
    const { app, store } = await started()
    for (const [id, host] of ['a:a1', 'b:a1', 'c:a10'].map((each) => each.split(':') as [string, string]))
      await store.register({ id, host, pid: 1, version: '0', slots: 1, now: t0, leaseMs: 60 * second })
    expect((await app.workers.drain('a1')).map(({ worker, outcome }) => [worker.id, outcome])).toEqual([
      ['a', 'changed'],
      ['b', 'changed'],
    ])
    const draining = (await store.workers()).filter(({ isDraining }) => isDraining)
    expect(draining.map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it('accepts an id, and a host with a process id', async () => {
    const { app, store } = await started()
    const now = { now: t0, leaseMs: 60 * second }
    for (const pid of [11, 12])
      await store.register({ id: `w${pid}`, host: 'h', pid, version: '0', slots: 1, ...now })
    expect(await app.workers.drain('w11')).toMatchObject([{ worker: { pid: 11 }, outcome: 'changed' }])
    expect(await app.workers.drain('h:12')).toMatchObject([{ worker: { pid: 12 }, outcome: 'changed' }])
    expect((await app.workers.drain('h')).map(({ outcome }) => outcome)).toEqual(['already', 'already'])
    expect((await app.workers.undrain('h')).map(({ outcome }) => outcome)).toEqual(['changed', 'changed'])
    expect((await app.workers.undrain('h:12')).map(({ outcome }) => outcome)).toEqual(['already'])
  })

  it('refuses an unknown name', async () => {
    const { app } = await started()
    for (const name of ['nobody', '', hostname().slice(0, -1)])
      await expect(app.workers.drain(name)).rejects.toMatchObject({ code: 'WORKER_UNKNOWN' })
  })

  it('reports for a gone process, and for a release that cannot drain, that nothing was changed', async () => {
    const { app, store } = await started()
    await store.register({
      id: 'gone',
      host: 'h',
      pid: 1,
      version: '0',
      slots: 1,
      now: t0 - 9000,
      leaseMs: 1,
    })
    await store.register({ id: 'old', host: 'h', pid: 2, version: '0', now: t0, leaseMs: 60 * second })
    expect((await app.workers.drain('h')).map(({ outcome }) => outcome)).toEqual(['gone', 'unable'])
    expect((await store.workers()).some(({ isDraining }) => isDraining)).toBe(false)
  })

  it('drains its own process: its runs end, it emits events, and draining can be cancelled', async () => {
    const { app, clock } = await started()
    const heard: string[] = []
    for (const name of ['worker:draining', 'worker:drained', 'worker:undrained'] as const)
      app.on(name, () => heard.push(name))
    await app.workers.drain(hostname())
    await app.enqueue('work')
    await clock.advance(20 * second, settle)
    expect(heard).toEqual(['worker:draining', 'worker:drained'])
    expect(app.isReady).toBe(false)
    expect((await app.runs.list()).map(({ state }) => state)).toEqual(['pending'])
    await app.workers.undrain(hostname())
    await clock.advance(20 * second, settle)
    expect(heard.at(-1)).toBe('worker:undrained')
    expect((await app.runs.list()).map(({ state }) => state)).toEqual(['done'])
  })

  it('emits an event', async () => {
    const { app } = await started()
    const told: unknown[] = []
    app.on('operation', (operation) => told.push(operation))
    await app.workers.drain(hostname())
    await app.workers.undrain('nobody').catch(() => undefined)
    expect(told).toMatchObject([
      { operation: 'drain', target: hostname(), outcome: 'changed' },
      { operation: 'undrain', target: 'nobody', outcome: 'failed' },
    ])
  })
})

async function started(roles: { readonly worker?: boolean } = {}) {
  const clock = new FakeClock(t0)
  const app = rota({ store: 'memory:', clock, concurrency: 3, lease: '30s' })
  app.job('work', () => undefined)
  onTestFinished(async () => {
    const closing = app.close()
    await clock.advance(20 * second, settle)
    await closing
  })
  await app.start({ roles })
  await settle()
  return { app, clock, store: await app.store() }
}
