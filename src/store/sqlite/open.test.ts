import {
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.js'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, t0 } from '../conformance/stage.js'
import type { FactPage } from '../../kernel/run/fact.js'
import type { Store } from '../port.js'
import { applicationId, migrations, schemaVersion } from './schema.js'
import { openSqliteStore, type SqliteOptions } from './sqlite-store.js'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
  path = join(directory, 'rota.db')
})

afterEach(() => rmSync(directory, { recursive: true }))

it('a new store and its directory are accessible only by their owner', async () => {
  const deep = join(directory, 'a', 'b', 'rota.db')
  const store = await open({ path: deep })
  await store.enqueue({ runs: [aRun('r')], now: t0 })
  expect(modes([deep, `${deep}-wal`, `${deep}-shm`])).toEqual([0o600, 0o600, 0o600])
  expect(modes([join(directory, 'a'), join(directory, 'a', 'b')])).toEqual([0o700, 0o700])
  await store.close()
})

it('a symbolic link is refused, wherever it leads', async () => {
  await (await open()).close()
  const link = join(directory, 'link.db')
  symlinkSync(path, link)
  await expect(open({ path: link })).rejects.toMatchObject({ code: 'STORE_URL' })
  symlinkSync(join(directory, 'nowhere.db'), join(directory, 'dangling.db'))
  await expect(open({ path: join(directory, 'dangling.db') })).rejects.toMatchObject({ code: 'STORE_URL' })
})

it('a store of schema 1 is migrated: an open chain continues', async () => {
  const old = new DatabaseSync(path)
  const [first] = migrations
  for (const sql of first?.statements ?? []) old.exec(sql)
  old.exec(
    `insert into meta (id, version, compatible_from) values (1, 1, 1); pragma application_id = ${applicationId}`,
  )
  old.exec(`insert into runs (id, job, state, priority, run_at, due_at, created_at, origin, trigger, chained)
    values ('r1', 'work', 1, 0, 1, 1, 1, 0, 't', 1), ('r2', 'work', 1, 0, 1, 1, 1, 1, null, null)`)
  old.close()
  const store = await open()
  const { facts } = await runsOf(store)
  expect(facts).toMatchObject([
    { run: { id: 'r1', endEffect: 'chain' } },
    { run: { id: 'r2', endEffect: undefined } },
  ])
  expect((await store.health({ now: t0 })).schemaVersion).toBe(schemaVersion)
  await store.close()
})

it.runIf(process.platform === 'linux')(
  'a path that the system refuses to create is refused, and not tried forever',
  async () => {
    await expect(open({ path: '/proc/rota/rota.db' })).rejects.toMatchObject({ code: 'STORE_URL' })
  },
)

it('a directory is not a store', async () => {
  await expect(open({ path: directory })).rejects.toMatchObject({ code: 'STORE_URL' })
})

it('a missing store that must exist is not created', async () => {
  await expect(open({ create: false })).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
  expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined()
})

it('G9: a file that is not a database is refused and left unchanged', async () => {
  const text = 'these are my notes, and not a database\n'.repeat(200)
  writeFileSync(path, text)
  await expect(open()).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
  expect(readFileSync(path, 'utf8')).toBe(text)
})

it('G9: a database of another program is refused and left unchanged', async () => {
  const other = new DatabaseSync(path)
  other.exec('create table notes (text); insert into notes values (1)')
  other.close()
  const before = readFileSync(path)
  await expect(open()).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
  expect(readFileSync(path).equals(before)).toBe(true)
})

it('G9: a damaged store returns an error instead of data', async () => {
  const store = await open()
  await store.enqueue({ runs: Array.from({ length: 3000 }, (_, i) => aRun(`r${i}`)), now: t0 })
  await store.close()
  const bytes = readFileSync(path)
  bytes.fill(0xa5, 4096 * 4)
  writeFileSync(path, bytes)
  await expect(touchAll()).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
})

it('a deep check finds damage that no query has read yet', async () => {
  const store = await open()
  await store.enqueue({ runs: Array.from({ length: 3000 }, (_, i) => aRun(`r${i}`)), now: t0 })
  expect((await store.health({ now: t0, deep: true })).faults).toEqual([])
  await store.close()
  const bytes = readFileSync(path)
  bytes.fill(0, bytes.length - 8192)
  writeFileSync(path, bytes)
  const damaged = await open()
  expect((await damaged.health({ now: t0 })).faults).toEqual([])
  expect((await damaged.health({ now: t0, deep: true })).faults).not.toEqual([])
  await damaged.close()
})

it('a store that needs a newer Rota is refused; one that is only newer is not', async () => {
  await (await open()).close()
  const db = new DatabaseSync(path)
  db.exec(`update meta set version = ${schemaVersion + 1}`)
  await (await open()).close()
  db.exec(`update meta set compatible_from = ${schemaVersion + 1}`)
  db.close()
  await expect(open()).rejects.toMatchObject({ code: 'STORE_VERSION' })
})

it('an empty file, as after a kill during the first opening, becomes a store', async () => {
  writeFileSync(path, '')
  const store = await open()
  expect((await store.health({ now: t0 })).schemaVersion).toBe(schemaVersion)
  await store.close()
})

it('an empty file becomes private when it becomes a store, and is not a store for a reader', async () => {
  writeFileSync(path, '', { mode: 0o644 })
  for (const options of [{ create: false }, { readOnly: true }])
    await expect(open(options)).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
  expect(statSync(path).size).toBe(0)
  await (await open()).close()
  expect(modes([path])).toEqual([0o600])
})

it('the reason why a file cannot be created is explained', async () => {
  writeFileSync(path, 'x')
  await expect(open({ path: join(path, 'rota.db') })).rejects.toMatchObject({
    code: 'STORE_URL',
    message: expect.stringContaining(
      'cannot be opened: a part of its path is not a directory (ENOTDIR)',
    ) as unknown,
  })
})

it.each(['missing', 'empty'])(
  'G9: a %s file with a log that is not is refused and left unchanged',
  async (state) => {
    const store = await open()
    await store.enqueue({ runs: [aRun('r')], now: t0 })
    const log = readFileSync(`${path}-wal`)
    await store.close()
    writeFileSync(`${path}-wal`, log)
    if (state === 'missing') rmSync(path)
    else truncateSync(path, 0)
    for (const options of [{}, { create: false }, { readOnly: true }])
      await expect(open(options)).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
    expect(readFileSync(`${path}-wal`).equals(log)).toBe(true)
    expect(statSync(path, { throwIfNoEntry: false })?.size).toBe(state === 'missing' ? undefined : 0)
  },
)

const headerDamages: [string, number][] = [
  ['its first byte', 0],
  ['the size of a page', 16],
  ['the number of pages', 28],
  ['its format', 47],
  ['its application id', 68],
  ['its first table', 100],
]

it.each(headerDamages)(
  'G9: a file that is damaged in %s is left unchanged, and so is its log',
  async (_, at) => {
    await killedWithLog()
    const bytes = readFileSync(path)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at)
    writeFileSync(path, bytes)
    const log = readFileSync(`${path}-wal`)
    await expect(open({ create: false })).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
    expect(readFileSync(path).equals(bytes)).toBe(true)
    expect(readFileSync(`${path}-wal`).equals(log)).toBe(true)
  },
)

it('G9: a deep check of a damaged file leaves it and its log unchanged', async () => {
  await killedWithLog()
  const bytes = readFileSync(path)
  bytes.fill(0xff, 32, 36)
  writeFileSync(path, bytes)
  const log = readFileSync(`${path}-wal`)
  const damaged = await open({ create: false })
  expect((await damaged.health({ now: t0, deep: true })).faults).not.toEqual([])
  await damaged.close()
  expect(readFileSync(path).equals(bytes)).toBe(true)
  expect(readFileSync(`${path}-wal`).equals(log)).toBe(true)
})

/** Leaves a store with a log that does not contain the first page of the file, as after a kill. */
async function killedWithLog(): Promise<void> {
  await (await open()).close()
  const db = new DatabaseSync(path)
  db.exec(`insert into queues (name, concurrency) values ('q', 1)`)
  const [bytes, log] = [readFileSync(path), readFileSync(`${path}-wal`)]
  db.close()
  writeFileSync(path, bytes)
  writeFileSync(`${path}-wal`, log)
}

it('processes that open a new store concurrently get the same store', async () => {
  const stores = await Promise.all(Array.from({ length: 5 }, () => open()))
  const ids = await Promise.all(stores.map(async (store) => (await store.health({ now: t0 })).id))
  expect(new Set(ids).size).toBe(1)
  await Promise.all(stores.map((store) => store.close()))
})

it('a store opened for reading shows the facts and refuses to change them', async () => {
  const store = await open()
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues: [], now: t0 })
  await store.enqueue({ runs: [aRun('r')], now: t0 })
  const opened = await open({ readOnly: true })
  expect((await opened.counts()).pending).toBe(1)
  await expect(opened.enqueue({ runs: [aRun('s')], now: t0 })).rejects.toMatchObject({ code: 'STORE_URL' })
  await opened.close()
  await store.close()
})

it('a watcher is notified of a commit by another process, not of its own', async () => {
  const [mine, other] = [await open(), await open()]
  const heard: string[] = []
  const stop = mine.watch(() => heard.push('hint'))
  await mine.enqueue({ runs: [aRun('own')], now: t0 })
  await pauses(3)
  expect(heard).toEqual([])
  const hint = new Promise<void>((resolve) => mine.watch(() => resolve()))
  await other.enqueue({ runs: [aRun('foreign')], now: t0 })
  await hint
  expect(heard).toEqual(['hint'])
  stop()
  await Promise.all([mine.close(), other.close()])
})

it('an idle watcher is notified of a foreign commit without a poll, and then polls again', async () => {
  const clock = new FakeClock(t0)
  const [mine, other] = [await open({ clock }), await open()]
  const hints: (() => void)[] = []
  const stop = mine.watch(() => hints.shift()?.())
  const hint = () => new Promise<void>((resolve) => hints.push(resolve))
  const untilRest = async () => {
    for (let i = 0; i < 12; i++) await clock.advance(100)
  }
  for (const id of ['first', 'second']) {
    await untilRest()
    const heard = hint()
    await other.enqueue({ runs: [aRun(id)], now: t0 })
    // If the system reported the write before the commit was visible, the next poll finds it.
    await clock.advance(100)
    await heard
  }
  stop()
  await Promise.all([mine.close(), other.close()])
})

it('G9: removing or replacing an open file is noticed, and nothing more is written to it', async () => {
  const hasty = { ...systemClock, timer: (_ms: number, fire: () => void) => systemClock.timer(1, fire) }
  const store = await open({ clock: hasty })
  const stop = store.watch(() => undefined)
  rmSync(path)
  await (await open()).close()
  await expect
    .poll(() => store.enqueue({ runs: [aRun('r')], now: t0 }).catch((error: unknown) => error))
    .toMatchObject({ code: 'STORE_WENT_BACK' })
  stop()
  await store.close()
})

it('G9: removing an open log is noticed, and nothing more is written to it', async () => {
  const hasty = { ...systemClock, timer: (_ms: number, fire: () => void) => systemClock.timer(1, fire) }
  const store = await open({ clock: hasty })
  const stop = store.watch(() => undefined)
  rmSync(`${path}-wal`)
  await expect
    .poll(() => store.enqueue({ runs: [aRun('r')], now: t0 }).catch((error: unknown) => error))
    .toMatchObject({ code: 'STORE_WENT_BACK' })
  stop()
  await store.close()
})

it('commits with changes are counted: each one, and after a hundred in a row one every 10 ms', async () => {
  const clock = new FakeClock(t0)
  const counted: number[] = []
  const store = await open({ clock, onCommit: (number) => counted.push(number) })
  const enqueue = (id: string) => store.enqueue({ runs: [aRun(id)], now: t0 })
  await enqueue('a')
  await enqueue('a')
  expect(counted).toEqual([1])
  for (let i = 0; i < 105; i++) await enqueue(`b${i}`)
  expect(counted).toHaveLength(100)
  await clock.advance(20)
  for (let i = 0; i < 5; i++) await enqueue(`c${i}`)
  expect(counted).toHaveLength(102)
  expect((await store.health({ now: t0 })).commit).toBe(102)
  await store.close()
})

function open(options: Partial<SqliteOptions> = {}): Promise<Store> {
  return openSqliteStore({ path, clock: systemClock, ...options })
}

/** Reads and writes data in all parts of the file. */
async function touchAll(): Promise<void> {
  const store = await open()
  try {
    await store.runs({ limit: 5000 })
    await store.counts()
    await store.enqueue({ runs: [aRun('after')], now: t0 })
    await store.prune({ before: t0 + 1, limit: 5000, now: t0 })
  } finally {
    await store.close()
  }
}

function modes(paths: readonly string[]): number[] {
  return paths.map((each) => statSync(each).mode & 0o777)
}

/** Lets the interval of the watch pass a few times. */
async function pauses(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((fire) => systemClock.timer(100, fire))
}

/** The page of facts that has the runs. */
async function runsOf(store: Store): Promise<FactPage> {
  let page = await store.facts({ limit: 9 })
  while (!page.facts.some(({ kind }) => kind === 'run'))
    page = await store.facts({ after: page.next, limit: 9 })
  return page
}
