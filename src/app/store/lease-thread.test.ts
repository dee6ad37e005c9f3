import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFilesStore } from '../../store/files/files-store.js'
import { DirectoryLock } from '../../store/files/lock.js'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.js'
import type { Store } from '../../store/port.js'
import { systemClock } from '../../time/clock.js'
import { ThreadedKeepAlive } from './threaded-keep-alive.js'

const run = promisify(execFile)
const library = fileURLToPath(new URL('../../../dist/index.js', import.meta.url))

let directory: string
let path: string
let store: Store

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rota-lease-'))
  path = join(directory, 'rota.db')
  store = await openSqliteStore({ path, clock: systemClock, durability: 'normal' })
})

afterEach(async () => {
  await store.close()
  await rm(directory, { recursive: true, force: true })
})

const hour = 3_600_000

/** A lease that is renewed by a thread; resolves with the first report of the thread. */
async function kept(options: { worker: string; url?: string; leaseMs?: number; now?: number }) {
  const told: string[] = []
  let tell: () => void = () => undefined
  const first = new Promise<void>((resolve) => (tell = resolve))
  const hear = (what: string) => (): void => {
    told.push(what)
    tell()
  }
  const keepAlive = new ThreadedKeepAlive({
    worker: options.worker,
    leaseMs: options.leaseMs ?? 1000,
    clock: systemClock,
    url: options.url ?? `sqlite:${path}`,
    durability: 'normal',
    stallMs: 60_000,
    now: options.now ?? Date.now(),
    onExpired: hear('expired'),
    onTrouble: hear('trouble'),
  })
  keepAlive.start()
  return { keepAlive, told, first }
}

describe('a lease that is renewed by a thread', () => {
  it('survives a handler that blocks the event loop for three times its length', async () => {
    const script = `
      import { rota } from ${JSON.stringify(library)}
      const store = 'sqlite:' + ${JSON.stringify(path)}
      const app = rota({ store, lease: '1s', durability: 'normal' })
      app.job('block', () => {
        const end = performance.now() + 3000
        while (performance.now() < end) continue
        return 'done'
      })
      const told = []
      for (const name of ['worker:expired', 'run:refused', 'run:lost']) app.on(name, () => told.push(name))
      await app.start()
      const { id } = await app.enqueue('block')
      const run = await app.runs.wait(id)
      console.log(JSON.stringify({ state: run.state, attempt: run.attempt, told }))
      await app.stop()`
    const other = setInterval(
      () => void store.expire({ now: Date.now(), deadline: Date.now(), limit: 10 }),
      100,
    )
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script])
    clearInterval(other)
    expect(JSON.parse(stdout)).toEqual({ state: 'done', attempt: 1, told: [] })
  })

  it('is renewed as soon as the thread runs, and ends with it', async () => {
    const now = Date.now()
    await store.register({ id: 'w', host: 'h', pid: 1, version: '0', now: now - 900, leaseMs: 1000 })
    const { keepAlive, told } = await kept({ worker: 'w' })
    while (((await store.workers())[0]?.leaseUntil ?? 0) <= now + 100) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    await keepAlive.stop()
    expect(told).toEqual([])
  })

  it('uses a time as soon as the main thread accepts it', async () => {
    const now = Date.now()
    await store.register({ id: 'w', host: 'h', pid: 1, version: '0', now, leaseMs: hour })
    const { keepAlive, told } = await kept({ worker: 'w', leaseMs: hour })
    const renewedPast = async (at: number): Promise<void> => {
      while (((await store.workers())[0]?.lastBeatAt ?? 0) <= at) {
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await renewedPast(now)
    keepAlive.accept(now + 3 * hour)
    await renewedPast(now + 3 * hour - 1)
    await keepAlive.stop()
    expect(told).toEqual([])
  })

  it('uses the accepted time of the main thread from its start', async () => {
    const now = Date.now() + 3 * hour
    await store.register({ id: 'w', host: 'h', pid: 1, version: '0', now, leaseMs: hour })
    const { keepAlive } = await kept({ worker: 'w', leaseMs: hour, now })
    while (((await store.workers())[0]?.leaseUntil ?? 0) <= now + hour - 1) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    await keepAlive.stop()
  })

  it('of a files store is renewed while others hold the directory', async () => {
    const files = join(directory, 'data')
    const store = await openFilesStore({ path: files, clock: systemClock, durability: 'normal' })
    const now = Date.now()
    await store.register({ id: 'w', host: 'h', pid: 1, version: '0', now, leaseMs: 60_000 })
    const lock = new DirectoryLock({ path: join(files, 'lock.db'), clock: systemClock, url: files })
    const told = await lock.holdThroughout(async () => {
      const { keepAlive, told } = await kept({ worker: 'w', url: `files:${files}` })
      while (((await store.workers())[0]?.lastBeatAt ?? 0) <= now) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      await keepAlive.stop()
      return told
    })
    expect(told).toEqual([])
    lock.close()
    await store.close()
  })

  it('that others have declared expired is reported immediately', async () => {
    const now = Date.now()
    await store.register({ id: 'w', host: 'h', pid: 1, version: '0', now, leaseMs: 1000 })
    await store.retire({ worker: 'w', now })
    const { keepAlive, told, first } = await kept({ worker: 'w' })
    await first
    await keepAlive.stop()
    expect(told).toEqual(['expired'])
  })

  it('whose thread dies has ended, and the reason is reported', async () => {
    const { keepAlive, told, first } = await kept({
      worker: 'w',
      url: `sqlite:${join(directory, 'none.db')}`,
    })
    await first
    while (told.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(told).toEqual(['trouble', 'expired'])
    await keepAlive.stop()
  })

  it('can be stopped while its thread is still starting', async () => {
    const { keepAlive } = await kept({ worker: 'w' })
    await keepAlive.stop()
  })
})
