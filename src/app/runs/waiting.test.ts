import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { settle } from '../../../test/fixtures/engine-stage.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { liveProcesses } from '../process/live-processes.js'
import { rota, type Rota } from '../rota.js'

const t0 = Date.UTC(2026, 0, 5)

/** Apps on one store in a directory of its own. */
function shared() {
  const directory = mkdtempSync(join(tmpdir(), 'rota-waiting-'))
  const clock = new FakeClock(t0)
  const apps: Rota[] = []
  const open = (app: string): Rota => {
    const opened = rota({ store: 'sqlite:rota.db', directory, clock, app })
    apps.push(opened)
    return opened
  }
  onTestFinished(async () => {
    const closing = Promise.all(apps.map((app) => app.close()))
    await clock.advance(20_000, settle)
    await closing
    rmSync(directory, { recursive: true })
  })
  return { open, clock, pass: (ms: number) => clock.advance(ms, settle) }
}

describe('app.whyPending', () => {
  it('knows that no live worker has a function, and that one has again', async () => {
    const { open, pass } = shared()
    const [web, worker] = [open('web'), open('worker')]
    web.job('render', () => undefined)
    worker.job('other', () => undefined)
    await worker.start()
    const { id } = await web.enqueue('render')
    await pass(5000)
    expect(await web.runs.whyPending(id)).toEqual([
      { kind: 'no-handler', job: 'render', source: 'code:web', workers: 1 },
    ])
    await worker.jobs.add({ added: { handler: () => undefined } })
    await pass(5000)
    const store = await web.store()
    expect(await liveProcesses(store, await store.workers())).toMatchObject([
      { source: 'code:worker', functions: ['added', 'other'] },
    ])
    await web.start()
    await pass(5000)
    expect((await web.runs.get(id)).state).toBe('done')
    expect(await web.runs.whyPending(id)).toEqual([])
  })

  it('names the runs that have the limit at which one waits, also where they wait for a worker', async () => {
    const { open } = shared()
    const app = open('web')
    app.job('mail', { command: ['true'], concurrency: 1 })
    const [first, second] = await app.enqueueMany('mail', [1, 2])
    expect(await app.runs.whyPending(first?.id ?? '')).toEqual([{ kind: 'no-worker' }])
    expect(await app.runs.whyPending(second?.id ?? '')).toEqual([
      { kind: 'limit', of: 'job', name: 'mail', key: undefined, limit: 1, holders: [first?.id] },
    ])
  })

  it('removes the record of a process that ended', async () => {
    const { open, pass } = shared()
    const app = open('web')
    app.job('render', () => undefined)
    await app.start()
    await pass(1000)
    const reader = open('reader')
    const store = await reader.store()
    expect(await store.stateEntries({ kind: 'process', limit: 9 })).toHaveLength(1)
    const stopping = app.stop()
    await pass(5000)
    await stopping
    expect(await store.stateEntries({ kind: 'process', limit: 9 })).toEqual([])
  })

  it('ignores the record of a killed process', async () => {
    const { open, pass } = shared()
    const app = open('web')
    const store = await app.store()
    const value = { host: 'gone', pid: 7, source: 'code:web', definitions: 'x', functions: [] }
    const killed = { kind: 'process' as const, name: 'gone:7:a:b', item: '', value }
    await store.changeState({ changes: [killed], now: t0 })
    expect(await liveProcesses(store, await store.workers())).toEqual([])
    await app.start()
    await pass(1000)
    expect(await store.stateEntries({ kind: 'process', names: ['gone:7:a:b'], limit: 9 })).toEqual([])
  })
})
