import { describe, expect, it, onTestFinished } from 'vitest'
import { settle } from '../../../test/fixtures/engine-stage.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { rota, type Rota } from '../rota.js'

const dryRun = true

/** An app with a job, a trigger that was added, and one run in every state that matters. */
async function stage() {
  const clock = new FakeClock(Date.UTC(2026, 0, 5))
  const app = rota({ store: 'memory:', clock })
  onTestFinished(async () => {
    const closing = app.close()
    await clock.advance(20_000, settle)
    await closing
  })
  app.job('work', ({ payload, signal }) => {
    if (payload === 'fail') throw new Error('no luck')
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
  })
  await app.start()
  await app.triggers.add({ added: { job: 'extra', every: '1h' } }, { jobs: { extra: { command: ['true'] } } })
  const failed = await app.enqueue('work', 'fail')
  const running = await app.enqueue('work', 'wait')
  const pending = await app.enqueue('work', 'later', { delay: '1h' })
  await clock.advance(0, settle)
  return { app, failed: failed.id, running: running.id, pending: pending.id }
}

/** Everything that is in the store. */
async function stored(app: Rota): Promise<unknown> {
  const store = await app.store()
  const { facts } = await store.facts({ limit: 10_000 })
  return { facts, workers: await store.workers(), jobs: await store.jobs() }
}

describe('a dry run', () => {
  it('returns what the change would return, changes nothing and emits no event', async () => {
    const { app, failed, running, pending } = await stage()
    const told: string[] = []
    const before = await stored(app)
    app.on('operation', ({ operation }) => void told.push(operation))
    const hourly = { job: 'work', every: '1h' } as const
    expect(await app.triggers.add({ more: hourly }, { dryRun })).toEqual({ jobs: [], triggers: ['more'] })
    expect(await app.jobs.add({ more: { command: ['true'] } }, { dryRun })).toMatchObject({ jobs: ['more'] })
    expect(await app.triggers.remove('added', { dryRun })).toMatchObject({ trigger: { name: 'added' } })
    expect(await app.runs.cancel(pending, { dryRun })).toMatchObject({ requested: false })
    expect(await app.runs.cancel(running, { dryRun })).toMatchObject({ requested: true })
    expect(await app.runs.retry(failed, { dryRun })).toMatchObject({ state: 'failed' })
    expect(await app.triggers.runNow('added', { dryRun })).toMatchObject({ created: true })
    expect(await app.jobs.runNow('work', { dryRun })).toMatchObject({ created: true })
    expect(await app.triggers.pause('added', { dryRun })).toBe(true)
    expect(await app.triggers.resume('added', { dryRun })).toBe(false)
    expect(await app.queues.pause('default', { dryRun })).toBe(true)
    expect(await app.queues.resume('default', { dryRun })).toBe(false)
    expect(await app.switches.off('worker', { dryRun })).toBe(true)
    expect(await app.switches.on('worker', { dryRun })).toBe(false)
    expect(await app.freeze({ dryRun })).toBe(true)
    expect(await app.thaw({ dryRun })).toBe(false)
    const [worker] = await app.workers.list()
    expect(await app.workers.drain(worker?.id ?? '', { dryRun })).toMatchObject([{ outcome: 'changed' }])
    expect(await app.workers.undrain(worker?.id ?? '', { dryRun })).toMatchObject([{ outcome: 'already' }])
    expect(await stored(app)).toEqual(before)
    expect(told).toEqual([])
  })

  it('refuses what the change would refuse', async () => {
    const { app, failed, running } = await stage()
    const extra = { command: ['true'] }
    const conflict = { code: 'DEFINITION_CONFLICT' }
    await expect(app.jobs.add({ extra }, { dryRun })).rejects.toMatchObject(conflict)
    await expect(app.jobs.add({ work: extra }, { dryRun, replace: true })).rejects.toMatchObject(conflict)
    await expect(app.jobs.remove('work', { dryRun })).rejects.toMatchObject(conflict)
    await expect(app.jobs.remove('extra', { dryRun })).rejects.toMatchObject({ code: 'RUN_STATE' })
    await expect(app.triggers.remove('none', { dryRun })).rejects.toMatchObject({ code: 'TRIGGER_UNKNOWN' })
    await expect(app.runs.cancel(failed, { dryRun })).rejects.toMatchObject({ code: 'RUN_STATE' })
    await expect(app.runs.retry(running, { dryRun })).rejects.toMatchObject({ code: 'RUN_STATE' })
    await expect(app.triggers.runNow('none', { dryRun })).rejects.toMatchObject({ code: 'TRIGGER_UNKNOWN' })
    await expect(app.triggers.pause('none', { dryRun })).rejects.toMatchObject({ code: 'TRIGGER_UNKNOWN' })
  })

  it('of the removal of a job succeeds once nothing uses the job', async () => {
    const { app } = await stage()
    await app.triggers.remove('added')
    expect(await app.jobs.remove('extra', { dryRun })).toMatchObject({ job: { name: 'extra' } })
    expect(await app.jobs.remove('extra')).toMatchObject({ job: { name: 'extra' } })
  })
})
