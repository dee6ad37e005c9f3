import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { systemClock, type Clock } from '../../time/clock.js'
import { CommandJobs } from './command-jobs.js'
import { joinedAt, separated } from './durable-file.js'
import { JobsFile } from './jobs-file.js'

const second = 1000

let path: string
let clock: FakeClock

beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'rota-jobs-writers-')), 'jobs.jsonl')
  clock = new FakeClock(Date.now())
})

function line(id: string): string {
  return `${JSON.stringify({ id, type: 'recurring', schedule: '0 9 * * *', command: 'c' })}\n`
}

const text = (): string => readFileSync(path, 'utf8')

/** A pending operation and its result. */
function begun(asked: Promise<unknown>): { outcome: () => unknown } {
  let outcome: unknown = 'under way'
  asked.then(
    () => void (outcome = 'done'),
    (error: unknown) => void (outcome = (error as Error).message),
  )
  return { outcome: () => outcome }
}

/** The clock, and a promise for the next sleep on it. */
function watched(): { clock: Clock; slept: Promise<void> } {
  let tell = (): void => undefined
  const slept = new Promise<void>((resolve) => (tell = resolve))
  const sleep: Clock['sleep'] = (ms, signal) => {
    tell()
    return clock.sleep(ms, signal)
  }
  const own: Clock = {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    uptimeMs: () => clock.uptimeMs(),
    sleep,
    sleepUntil: (at, signal) => clock.sleepUntil(at, signal),
    timer: (ms, fire) => clock.timer(ms, fire),
    defer: (act) => clock.defer(act),
  }
  return { clock: own, slept }
}

/** Advances the clock in small steps until an operation has ended: files take real time, locks and waits use the clock. */
async function ended({ outcome }: { outcome: () => unknown }): Promise<unknown> {
  while (outcome() === 'under way') await clock.advance(5)
  return outcome()
}

const daily = { type: 'recurring', schedule: '0 9 * * *', command: 'c' } as const

describe('a jobs file whose last line another program has begun to write', () => {
  const half = line('foreign').slice(0, 30)
  const rest = line('foreign').slice(30)

  it('N4: gets a new line only when that line is complete', async () => {
    writeFileSync(path, line('a') + half)
    const { clock: own, slept } = watched()
    const asked = new JobsFile(path, own).append([line('own').trimEnd()])
    const adding = begun(asked)
    await Promise.race([slept, asked])
    await clock.advance(2 * second)
    expect([adding.outcome(), text()]).toEqual(['under way', line('a') + half])
    appendFileSync(path, rest)
    expect(await ended(adding)).toBe('done')
    expect(text()).toBe(line('a') + line('foreign') + line('own'))
  })

  it('N4: refuses a new line while that line stays incomplete, and accepts one a minute later', async () => {
    writeFileSync(path, half)
    const file = new JobsFile(path, clock)
    expect(await ended(begun(file.append([line('own').trimEnd()])))).toMatch(
      /jobs\.jsonl: its last line is not complete, and another program may be writing it; try again in a minute$/,
    )
    expect(text()).toBe(half)
    await clock.advance(60 * second)
    expect(await ended(begun(file.append([line('own').trimEnd()])))).toBe('done')
    expect(text()).toBe(`${half}\n${line('own')}`)
  })

  it('N4: accepts a new line immediately if only the line feed is missing', async () => {
    writeFileSync(path, line('foreign').trimEnd())
    expect(await ended(begun(new JobsFile(path, clock).append([line('own').trimEnd()])))).toBe('done')
    expect(text()).toBe(line('foreign') + line('own'))
  })

  it('N4: loses nothing of that line when another line is removed', async () => {
    const { clock: own, slept } = watched()
    const store = openMemoryStore()
    writeFileSync(path, '')
    const settings = { store, storeUrl: 'memory:', path }
    await new CommandJobs({ ...settings, clock: systemClock }).add(
      { id: 'own', ...daily },
      { now: clock.now() },
    )
    appendFileSync(path, half)
    const asked = new CommandJobs({ ...settings, clock: own }).remove('own', { now: clock.now() })
    const removed = begun(asked)
    await Promise.race([slept, asked])
    await clock.advance(2 * second)
    expect([removed.outcome(), text().includes('"own"')]).toEqual(['under way', true])
    appendFileSync(path, rest)
    expect(await ended(removed)).toBe('done')
    expect(text()).toBe(line('foreign'))
  })
})

describe('a jobs file to which another program keeps appending', () => {
  it('N4: allows lines to be removed, and loses none of the others', async () => {
    const store = openMemoryStore()
    const jobs = new CommandJobs({ store, storeUrl: 'memory:', clock: systemClock, path })
    const now = systemClock.now()
    for (const id of ['a', 'b', 'c']) await jobs.add({ id, ...daily }, { now })
    let written = 0
    const over = new AbortController()
    const writer = (async () => {
      while (!over.signal.aborted) {
        appendFileSync(path, line(`foreign-${written++}`))
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    })()
    for (const id of ['a', 'b', 'c']) expect((await jobs.remove(id, { now })).state).toBe('removed')
    over.abort()
    await writer
    const expected = Array.from({ length: written }, (_, n) => line(`foreign-${n}`))
    expect(text().split('\n').toSorted()).toEqual([...expected.map((one) => one.trimEnd()), ''].toSorted())
  })
})

describe('a line that was written into the line of another program', () => {
  const own = Buffer.from(line('own') + line('own-2'))
  const begun = line('foreign').slice(0, 30)
  const rest = line('foreign').slice(30)

  it.each([
    ['when it stands behind a line', line('a') + own, 'apart'],
    ['while that line is not complete', line('a') + begun + own, 'begun'],
    ['while the rest of it has no end', line('a') + begun + own + rest.trimEnd(), 'begun'],
    ['when it is', line('a') + begun + own + rest, line('a') + line('foreign') + own],
    ['with lines behind it', begun + own + rest + line('b'), line('foreign') + own + line('b')],
  ])('N4: is put behind it: %s', (_, written, expected) => {
    expect(separated(Buffer.from(written), own).toString()).toBe(expected)
  })

  it('N4: is joined with its rest if the file was replaced between the two parts', () => {
    const text = Buffer.from(line('a') + rest + line('b'))
    const at = line('a').length
    expect(joinedAt(text, Buffer.from(begun), at)?.toString()).toBe(line('a') + line('foreign') + line('b'))
    expect(joinedAt(Buffer.from(line('a') + line('b')), Buffer.from(begun), at)).toBeUndefined()
    expect(joinedAt(Buffer.from(line('a')), Buffer.from(begun), at)).toBeUndefined()
  })
})
