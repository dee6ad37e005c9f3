import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { DirectoryLock } from './lock.js'

let directory: string
const opened: DirectoryLock[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-lock-'))
  for (const name of ['lock.db', 'waitTimer.db']) writeFileSync(join(directory, name), '')
})

afterEach(() => {
  for (const lock of opened.splice(0)) lock.close()
  rmSync(directory, { recursive: true })
})

it('N12: taking the lock writes nothing, so it can be taken on a full disk', async () => {
  const lock = open()
  const names = await lock.hold(() => readdirSync(directory))
  expect(names).toEqual(['lock.db', 'waitTimer.db'])
  for (const name of names) expect(statSync(join(directory, name)).size).toBe(0)
})

it('waits until the holder is done', async () => {
  const [one, other] = [open(), open()]
  const order: string[] = []
  const over = new AbortController()
  const holding = one.holdThroughout(async () => {
    await systemClock.sleep(60_000, over.signal)
    order.push('one')
  })
  const waitTimer = other.hold(() => order.push('other'))
  over.abort()
  await Promise.all([holding, waitTimer])
  expect(order).toEqual(['one', 'other'])
})

it('a process that takes it again and again lets waiting processes go first', async () => {
  const [greedy, patient] = [open(), open()]
  const served: number[] = []
  let turns = 0
  const first = greedy.holdThroughout(async () => {
    // The other process has tried and is waiting from here on.
    void patient.hold(() => served.push(turns))
    await systemClock.sleep(1)
  })
  await first
  while (served.length === 0 && turns < 100) {
    turns += 1
    await greedy.hold(() => spin(5))
  }
  expect(served).toHaveLength(1)
  expect(turns).toBeLessThan(20)
})

it('two waiting operations of one process do not disturb each other', async () => {
  const [one, other] = [open(), open()]
  const over = new AbortController()
  const holding = one.holdThroughout(async () => await systemClock.sleep(60_000, over.signal))
  const waitTimer = [other.hold(() => 1), other.hold(() => 2)]
  over.abort()
  await holding
  expect(await Promise.all(waitTimer)).toEqual([1, 2])
})

it('N12: operations of one process that arrive together take the lock one after the other', async () => {
  const lock = open()
  const order: string[] = []
  await Promise.all([
    lock.holdThroughout(async () => {
      order.push('first')
      await systemClock.sleep(1)
      order.push('first is done')
    }),
    lock.hold(() => order.push('second')),
    lock.hold(() => order.push('third')),
  ])
  expect(order.slice(0, 2)).toEqual(['first', 'first is done'])
  expect(order.slice(2).toSorted()).toEqual(['second', 'third'])
})

it('waits no longer than the given limit', async () => {
  const [one, other] = [open(), open()]
  const over = new AbortController()
  const holding = one.holdThroughout(async () => await systemClock.sleep(60_000, over.signal))
  await expect(other.hold(() => undefined, 20)).rejects.toMatchObject({ code: 'STORE_BUSY' })
  over.abort()
  await holding
})

function open(): DirectoryLock {
  const [path, waitingPath] = [join(directory, 'lock.db'), join(directory, 'waitTimer.db')]
  const lock = new DirectoryLock({ path, waitingPath, clock: systemClock, url: 'files:here' })
  opened.push(lock)
  return lock
}

/** Runs something slow. */
function spin(ms: number): void {
  const end = systemClock.monotonicMs() + ms
  while (systemClock.monotonicMs() < end) continue
}
