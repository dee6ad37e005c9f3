import { expect, it, onTestFinished } from 'vitest'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { sync } from '../../engine/sync/sync.js'
import { timedKinds } from '../../engine/timed/kinds.js'
import { forgetRequests } from '../../engine/upkeep/forget-requests.js'
import { aTrigger, t0 } from '../../store/conformance/stage.js'
import { createApp } from '../rota.js'

const options = { by: 'ann', reason: 'because' } as const

async function stage() {
  const app = createApp({ store: 'memory:' }, 'code:test')
  onTestFinished(() => app.close())
  app.job('work', () => 'done')
  app.schedule('nightly', { job: 'work', cron: '0 2 * * *' })
  await app.start({ roles: { worker: false } })
  return app
}

it('every change through an app is recorded, with who and why', async () => {
  const app = await stage()
  const run = await app.enqueue('work', 1)
  const steps: readonly (readonly [action: string, change: () => Promise<unknown>])[] = [
    ['run.cancel', () => app.runs.cancel(run.id, options)],
    ['run.retry', () => app.runs.retry(run.id, options)],
    ['job.define', () => app.jobs.add({ extra: { command: ['true'] } }, options)],
    ['job.remove', () => app.jobs.remove('extra', options)],
    ['job.run', () => app.jobs.runNow('work', options)],
    ['trigger.define', () => app.triggers.add({ hourly: { job: 'work', every: '1h' } }, options)],
    ['trigger.pause', () => app.triggers.pause('hourly', options)],
    ['trigger.resume', () => app.triggers.resume('hourly', options)],
    ['trigger.run', () => app.triggers.runNow('hourly', options)],
    ['trigger.remove', () => app.triggers.remove('hourly', options)],
    ['queue.pause', () => app.queues.pause('default', options)],
    ['queue.resume', () => app.queues.resume('default', options)],
    ['switch.off', () => app.switches.off('worker', options)],
    ['switch.on', () => app.switches.on('worker', options)],
    ['freeze', () => app.freeze(options)],
    ['thaw', () => app.thaw(options)],
  ]
  for (const [action, change] of steps) {
    const before = (await app.history({ limit: 500 })).length
    await change()
    const found = await app.history({ limit: 500 })
    expect({ action, count: found.length }).toEqual({ action, count: before + 1 })
    expect(found[0]).toMatchObject({ action, actor: 'ann', reason: 'because', via: 'code' })
  }
})

it('runs that a program enqueues leave no entry, and the app is the actor of its changes', async () => {
  const app = await stage()
  await app.enqueue('work', 1)
  expect(await app.history({ action: 'run.enqueue' })).toEqual([])
  await app.freeze()
  expect(await app.history({ name: 'all' })).toMatchObject([{ actor: 'code:test', via: 'code' }])
})

it('a start records definitions that changed: each of a few, many in one entry, and none where none did', async () => {
  const store = openMemoryStore()
  const start = async (count: number, priority: number, now: number): Promise<string[]> => {
    const triggers = Array.from({ length: count }, (_, i) =>
      aTrigger(`t${i}`, { priority: i === 0 ? priority : 0 }),
    )
    await sync(store, { name: 'config:shop', jobs: [], queues: [], triggers }, { kinds: timedKinds, now })
    const entries = await store.auditPage({ limit: 1000, sinceAt: now })
    expect(entries.every(({ actor, via }) => actor === 'config:shop' && via === 'sync')).toBe(true)
    return entries.map(({ action, target }) => `${action} ${target}`)
  }
  expect(await start(200, 0, t0)).toEqual(['sync source:config:shop'])
  const [first] = await store.auditPage({ limit: 1 })
  expect(first?.after).toMatchObject({ definitions: 200, triggers: 200, ended: 0 })
  expect(JSON.stringify(first).length).toBeLessThan(1000)
  expect(await start(200, 0, t0 + 1)).toEqual([])
  expect(await start(199, 5, t0 + 2)).toEqual(['trigger.end trigger:t199', 'trigger.define trigger:t0'])
})

it('keys of requests are removed after a day', async () => {
  const store = openMemoryStore()
  const put = (name: string, now: number) =>
    store.changeState({ changes: [{ kind: 'request', name, item: '', value: 1 }], now })
  await put('old', t0)
  await put('new', t0 + 80_000_000)
  await forgetRequests(store, t0 + 86_400_001)
  const left = await store.stateEntries({ kind: 'request', limit: 9 })
  expect(left.map(({ name }) => name)).toEqual(['new'])
})
