import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { RotaError } from '../model/errors.js'
import { openSqliteStore } from '../store/sqlite/sqlite-store.js'
import type { Store } from '../store/store.js'
import { FakeClock, settled } from '../testing/fake-clock.js'
import { rota } from './rota.js'
import { Witness } from './witness.js'

let directory: string
let path: string
const clock = new FakeClock(Date.UTC(2026, 0, 5))

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rota-witness-'))
  path = join(directory, 'rota.db')
  vi.stubEnv('XDG_STATE_HOME', join(directory, 'state'))
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(directory, { recursive: true, force: true })
})

async function opened(): Promise<Store> {
  return await openSqliteStore({ path, clock, durability: 'normal' })
}

async function witnessed(
  store: Store,
  accept = false,
  onWentBack: (error: RotaError) => void = () => undefined,
) {
  return await Witness.open({ store, clock, accept, onWentBack })
}

/** Lets the epoch rise, as a worker that is alive does. */
async function live(beats: number): Promise<void> {
  const store = await opened()
  const witness = await witnessed(store)
  for (let i = 0; i < beats; i++) await store.heartbeat({ worker: 'w', now: clock.now(), leaseMs: 1000 })
  await witness?.close()
  await store.close()
}

it('G9: a store that was restored from a copy is refused until that is accepted', async () => {
  await live(3)
  await copyFile(path, join(directory, 'backup.db'))
  await live(5)
  await copyFile(join(directory, 'backup.db'), path)
  const store = await opened()
  await expect(witnessed(store)).rejects.toMatchObject({ code: 'STORE_WENT_BACK' })
  // Asking again does not make it right.
  await expect(witnessed(store)).rejects.toMatchObject({ code: 'STORE_WENT_BACK' })
  const accepted = await witnessed(store, true)
  await accepted?.close()
  const after = await witnessed(store)
  await after?.close()
  await store.close()
})

it('a new store under the path of an old one is simply another', async () => {
  await live(5)
  await rm(path)
  await rm(`${path}-wal`, { force: true })
  const store = await opened()
  const witness = await witnessed(store)
  await witness?.close()
  await store.close()
})

it('a store that goes back while it is in use is told of', async () => {
  const store = await opened()
  const { epoch, ...health } = await store.health({ now: clock.now() })
  let shown = epoch + 10
  const lying = new Proxy(store, {
    get: (target, key) =>
      key === 'health'
        ? () => Promise.resolve({ ...health, epoch: shown })
        : (Reflect.get(target, key, target) as unknown),
  })
  const told: string[] = []
  const witness = await witnessed(lying, false, (error) => told.push(error.code))
  await clock.advance(60_000, () => settled(20))
  expect(told).toEqual([])
  shown = epoch
  await clock.advance(60_000, () => settled(20))
  expect(told).toEqual(['STORE_WENT_BACK'])
  await witness?.close()
  await store.close()
})

it('an app that was refused can be started when that is accepted', async () => {
  await live(3)
  await copyFile(path, join(directory, 'backup.db'))
  await live(5)
  await copyFile(join(directory, 'backup.db'), path)
  const app = rota({ store: `sqlite:${path}`, clock })
  await expect(app.start()).rejects.toMatchObject({ code: 'STORE_WENT_BACK' })
  await app.start({ acceptStore: true, roles: { worker: false } })
  await app.close()
})
