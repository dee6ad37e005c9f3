import { existsSync } from 'node:fs'
import {
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { RotaError } from '../../kernel/definition/errors.js'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.js'
import { FakeClock, settled } from '../../testing/fake-clock.js'
import type { RotaOptions } from '../rota-options.js'
import { rota, type Rota } from '../rota.js'
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

/** An app that performs nothing, on the store of the test. */
function app(options: RotaOptions = {}): Rota {
  const made = rota({ store: `sqlite:${path}`, clock, durability: 'normal', ...options })
  made.job('work', () => undefined)
  return made
}

/** Starts an app, calls a function, and ends it like `kill -9`: the committed data is only in the log. */
async function killedAfter(act: (app: Rota) => Promise<void>, options: RotaOptions = {}): Promise<void> {
  const lived = app(options)
  await lived.start({ roles: { scheduler: false, worker: false } })
  await act(lived)
  const left = join(directory, 'left')
  await mkdir(left)
  for (const name of filesOfStore) await copyFile(join(directory, name), join(left, name))
  const seen = join(directory, 'seen')
  await cp(join(directory, 'state'), seen, { recursive: true })
  await lived.close()
  for (const name of filesOfStore) await rename(join(left, name), join(directory, name))
  await rm(join(directory, 'state'), { recursive: true })
  await rename(seen, join(directory, 'state'))
  await rm(left, { recursive: true })
}

const filesOfStore = ['rota.db', 'rota.db-wal']

async function enqueueFive(app: Rota): Promise<void> {
  for (let i = 0; i < 5; i++) await app.enqueue('work')
}

/** The result of a start. */
async function startOf(options: RotaOptions = {}): Promise<string> {
  const later = app(options)
  try {
    await later.start({ roles: { scheduler: false, worker: false } })
    return 'started'
  } catch (error) {
    return (error as RotaError).code
  } finally {
    await later.close()
  }
}

const damages: [string, () => Promise<void>][] = [
  ['removed', () => rm(`${path}-wal`)],
  ['emptied', () => truncate(`${path}-wal`, 0)],
  ['cut in its last commit', async () => truncate(`${path}-wal`, (await stat(`${path}-wal`)).size - 5000)],
  ['flipped in its last commit', () => flip(`${path}-wal`, -3000)],
  ['flipped in its middle', () => flip(`${path}-wal`, -60_000)],
]

async function flip(file: string, fromEnd: number): Promise<void> {
  const bytes = await readFile(file)
  const at = bytes.length + fromEnd
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at)
  await writeFile(file, bytes)
}

it.each(damages)('G9: a log that was %s while nothing ran is noticed', async (_, damage) => {
  await killedAfter(enqueueFive)
  await damage()
  expect(await startOf()).toBe('STORE_WENT_BACK')
})

it('a store is not refused after a kill', async () => {
  await killedAfter(enqueueFive)
  expect(await startOf()).toBe('started')
  expect(await startOf()).toBe('started')
})

it('G9: a store that went back is read-only until it is accepted', async () => {
  await killedAfter(enqueueFive)
  await rm(`${path}-wal`)
  const later = app()
  expect(await later.runs.list()).toEqual([])
  await expect(later.enqueue('work')).rejects.toMatchObject({ code: 'STORE_WENT_BACK' })
  await expect(later.freeze()).rejects.toMatchObject({ code: 'STORE_WENT_BACK' })
  expect(await later.doctor()).toContainEqual(
    expect.objectContaining({
      check: 'store',
      level: 'error',
      todo: expect.stringContaining('--accept-store'),
    }),
  )
  await expect(later.start()).rejects.toMatchObject({ code: 'STORE_WENT_BACK' })
  await later.start({ acceptStore: true, roles: { worker: false } })
  await later.enqueue('work')
  await later.close()
  expect(await startOf()).toBe('started')
})

it('G9: writes of a command count, too, and a command that only reads leaves no trace', async () => {
  const writer = app()
  await writer.enqueue('work')
  await copyFile(path, join(directory, 'backup.db'))
  await writer.close()
  await rm(join(directory, 'state'), { recursive: true })
  const reader = app()
  await reader.runs.list()
  await reader.close()
  expect(existsSync(join(directory, 'state'))).toBe(false)
  const again = app()
  await again.enqueue('work')
  await again.close()
  await copyFile(join(directory, 'backup.db'), path)
  expect(await startOf()).toBe('STORE_WENT_BACK')
})

it('with `durability: normal` commits that a power loss undid are accepted', async () => {
  await killedAfter(enqueueFive, { durability: 'normal' })
  await rm(`${path}-wal`)
  await pretendReboot()
  expect(await startOf()).toBe('started')
})

it('with `durability: full` a power loss undoes nothing, so missing commits are detected', async () => {
  await killedAfter(enqueueFive, { durability: 'full' })
  await rm(`${path}-wal`)
  await pretendReboot()
  expect(await startOf()).toBe('STORE_WENT_BACK')
})

it('with `durability: normal` missing commits that were on disk for long are detected after a power loss', async () => {
  const lived = app({ durability: 'normal' })
  await lived.start({ roles: { scheduler: false, worker: false } })
  await copyFile(path, join(directory, 'backup.db'))
  await enqueueFive(lived)
  for (let i = 0; i < 22; i++) await clock.advance(60_000, () => settled(20))
  await lived.close()
  await copyFile(join(directory, 'backup.db'), path)
  await pretendReboot()
  expect(await startOf()).toBe('STORE_WENT_BACK')
})

/** Makes every witness contain another boot id. */
async function pretendReboot(): Promise<void> {
  const root = join(directory, 'state')
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    await writeFile(file, (await readFile(file, 'utf8')).replace(/"boot":"[^"]*"/, '"boot":"another"'))
  }
}

it('an accepted copy and its original are independent', async () => {
  await killedAfter(enqueueFive)
  expect(await startOf()).toBe('started')
  const copy = join(directory, 'copy.db')
  await copyFile(path, copy)
  const original = app()
  await enqueueFive(original)
  await original.close()
  const store = `sqlite:${copy}`
  // It could be a backup that was restored in another place.
  expect(await startOf({ store })).toBe('STORE_WENT_BACK')
  const accepted = app({ store })
  await accepted.start({ acceptStore: true, roles: { worker: false } })
  for (let i = 0; i < 4; i++) await enqueueFive(accepted)
  await accepted.close()
  expect(await startOf()).toBe('started')
  expect(await startOf({ store })).toBe('started')
})

it('G9: an empty file where a store was seen is refused; a removed one is a new store', async () => {
  await killedAfter(enqueueFive)
  expect(await startOf()).toBe('started')
  await truncate(path, 0)
  await rm(`${path}-wal`, { force: true })
  expect(await startOf()).toBe('STORE_CORRUPT')
  await rm(path)
  expect(await startOf()).toBe('started')
})

it('G9: a store that was restored from a copy is refused until that is accepted', async () => {
  expect(await startOf()).toBe('started')
  await copyFile(path, join(directory, 'backup.db'))
  expect(await startOf()).toBe('started')
  const lived = app()
  await enqueueFive(lived)
  await lived.close()
  await copyFile(join(directory, 'backup.db'), path)
  expect(await startOf()).toBe('STORE_WENT_BACK')
  // A second start is refused, too.
  expect(await startOf()).toBe('STORE_WENT_BACK')
})

it('a store that goes back while it is in use is reported', async () => {
  const store = await openSqliteStore({ path, clock })
  const { epoch, ...health } = await store.health({ now: clock.now() })
  let shown = epoch + 10
  const lying = new Proxy(store, {
    get: (target, key) =>
      key === 'health'
        ? () => Promise.resolve({ ...health, epoch: shown })
        : (Reflect.get(target, key, target) as unknown),
  })
  const told: string[] = []
  const onWentBack = (error: RotaError): void => void told.push(error.code)
  const witness = await Witness.open({ store: lying, clock, durability: 'normal', onWentBack })
  witness?.watch()
  await clock.advance(60_000, () => settled(20))
  expect(told).toEqual([])
  shown = epoch
  await clock.advance(60_000, () => settled(20))
  expect(told).toEqual(['STORE_WENT_BACK'])
  await witness?.unwatch()
  witness?.close()
  await store.close()
})

it('a missing home is not created, and a state that cannot be written is reported', async () => {
  const home = join(directory, 'nonexistent')
  const file = join(directory, 'file')
  await writeFile(file, '')
  for (const [name, value] of [
    ['HOME', home],
    ['XDG_STATE_HOME', join(file, 'state')],
  ] as const) {
    vi.stubEnv('XDG_STATE_HOME', '')
    vi.stubEnv(name, value)
    const told: unknown[] = []
    const one = app()
    one.on('operation', ({ outcome, details }) => void told.push(outcome, details?.['message']))
    await one.start({ roles: { scheduler: false, worker: false } })
    await one.close()
    expect(told).toEqual(['warning', expect.stringContaining('set XDG_STATE_HOME')])
  }
  expect(existsSync(home)).toBe(false)
})
