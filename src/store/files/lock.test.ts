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
  writeFileSync(join(directory, 'lock.db'), '')
})

afterEach(() => {
  for (const lock of opened.splice(0)) lock.close()
  rmSync(directory, { recursive: true })
})

it('N12: taking the lock writes nothing, so that a full disk does not keep anyone from it', async () => {
  const lock = open()
  const names = await lock.hold(() => readdirSync(directory))
  expect(names).toEqual(['lock.db'])
  expect(statSync(join(directory, 'lock.db')).size).toBe(0)
})

it('waits until whoever holds it is done', async () => {
  const [one, other] = [open(), open()]
  const order: string[] = []
  const over = new AbortController()
  const holding = one.holdThroughout(async () => {
    await systemClock.sleep(60_000, over.signal)
    order.push('one')
  })
  const waiting = other.hold(() => order.push('other'))
  over.abort()
  await Promise.all([holding, waiting])
  expect(order).toEqual(['one', 'other'])
})

function open(): DirectoryLock {
  const lock = new DirectoryLock({ path: join(directory, 'lock.db'), clock: systemClock, url: 'files:here' })
  opened.push(lock)
  return lock
}
