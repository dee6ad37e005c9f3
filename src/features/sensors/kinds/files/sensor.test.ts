import { execFileSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Observation, PollResult } from '../../sensor.js'
import type { FilesSensorOptions } from './options.js'
import { filesSensor } from './sensor.js'
import { firstSweepState, type SweepState } from '../sweep/sweep.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-files-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
})

describe('F6: file arrival in a directory', () => {
  test('a file is found once, with the date in its path and its location', async () => {
    write('data/2025-01-15/events.csv', 'abc')
    write('data/notes.txt')
    const watcher = watch({ glob: 'data/**/*.csv' })
    expect(await watcher.sweep()).toEqual([
      {
        key: 'data/2025-01-15/events.csv',
        partition: '2025-01-15',
        payload: {
          path: join(directory, 'data/2025-01-15/events.csv'),
          size: 3,
          modifiedAt: expect.stringMatching(/Z$/),
        },
      },
    ])
    watcher.later(60_000)
    expect(await watcher.sweep()).toEqual([])
  })

  test('without a valid date the partition is the day of its last change in the zone of the trigger', async () => {
    write('2025-02-30.csv')
    utimesSync(join(directory, '2025-02-30.csv'), 1_767_603_600, Date.UTC(2026, 0, 5, 23, 30) / 1000)
    expect(await watch({ glob: '*' }, 'Asia/Bangkok').sweep()).toMatchObject([{ partition: '2026-01-06' }])
  })

  test('the partition is the user’s function of path and file', async () => {
    write('a/x', 'four')
    const partition = (path: string, { size }: { size: number }): string => `${path}:${size}`
    expect(await watch({ glob: '**', partition }).sweep()).toMatchObject([{ partition: 'a/x:4' }])
  })

  test('only matching files are found, at the depth of the pattern', async () => {
    for (const path of ['a.csv', 'in/b.csv', 'in/x/c.csv', 'in/.hidden.csv', 'in/d.txt']) write(path)
    const found = async (glob: string): Promise<readonly string[]> => keysOf(await watch({ glob }).sweep())
    expect(await found('*.csv')).toEqual(['a.csv'])
    expect(await found('./in/*.csv')).toEqual(['in/b.csv'])
    expect(await found('in/**/*.csv')).toEqual(['in/b.csv', 'in/x/c.csv'])
    expect(await found('in/{b,x/c}.csv')).toEqual(['in/b.csv', 'in/x/c.csv'])
    expect(await found('in/d.txt')).toEqual(['in/d.txt'])
    expect(await found('**')).toEqual(['a.csv', 'in/b.csv', 'in/d.txt', 'in/x/c.csv'])
  })

  test('a file that is still being written is left until it has settled', async () => {
    write('a.csv')
    const watcher = watch({ glob: '*.csv', settle: '5s' })
    watcher.now = changedAt('a.csv') + 4999
    expect(await watcher.poll()).toMatchObject({
      kind: 'no-trigger',
      reason: 'nothing new: 1 examined, 1 not settled yet',
    })
    appendFileSync(join(directory, 'a.csv'), 'more')
    watcher.now = changedAt('a.csv') + 4999
    expect(await watcher.sweep()).toEqual([])
    watcher.later(2)
    expect(await watcher.sweep()).toMatchObject([{ key: 'a.csv', payload: { size: 5 } }])
  })

  test('a file that was moved here is found, however old it is', async () => {
    const watcher = watch({ glob: '**' })
    write('a')
    utimesSync(join(directory, 'a'), 1, 1)
    await watcher.sweep()
    watcher.later(3_600_000)
    await watcher.sweep()
    renameSync(join(directory, 'a'), join(directory, 'b'))
    for (let count = 0; count < 3; count++) await watcher.sweep()
    expect(watcher.seen).toEqual(new Set(['a', 'b']))
  })

  test('a directory that was moved here brings all its files, although none of them changed', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'rota-files-'))
    for (let index = 0; index < 50; index++) writeFileSync(join(elsewhere, `f${index}`), '')
    const watcher = watch({ glob: '**' })
    for (let count = 0; count < 2; count++) {
      watcher.later(3_600_000)
      await watcher.sweep()
    }
    renameSync(elsewhere, join(directory, 'moved'))
    for (let count = 0; count < 2; count++) await watcher.sweep()
    expect(watcher.seen.size).toBe(50)
    expect(await watcher.sweep()).toEqual([])
  })

  test('a replaced file is found again only with version', async () => {
    write('a', 'one')
    const [plain, versioned] = [watch({ glob: '*' }), watch({ glob: '*', version: true })]
    await plain.sweep()
    await versioned.sweep()
    write('a', 'three')
    for (let count = 0; count < 2; count++) await plain.sweep()
    for (let count = 0; count < 2; count++) await versioned.sweep()
    expect(plain.seen.size).toBe(1)
    expect(versioned.seen.size).toBe(2)
  })

  test('startFrom now ignores what exists', async () => {
    write('before')
    const watcher = watch({ glob: '*', startFrom: 'now', settle: 0 })
    watcher.now = changedAt('before')
    expect(await watcher.sweep()).toEqual([])
    write('after')
    watcher.now = changedAt('after') + 1
    expect(keysOf(await watcher.sweep())).toEqual(['after'])
    watcher.later(60_000)
    for (let count = 0; count < 3; count++) await watcher.sweep()
    expect([...watcher.seen]).toEqual(['after'])
  })

  test('symbolic links are ignored by default, and never followed in a circle', async () => {
    write('real/a')
    symlinkSync(join(directory, 'real'), join(directory, 'link'))
    symlinkSync(directory, join(directory, 'real/circle'))
    symlinkSync(join(directory, 'real/a'), join(directory, 'b'))
    symlinkSync(join(directory, 'nowhere'), join(directory, 'broken'))
    expect(keysOf(await watch({ glob: '**' }).sweep())).toEqual(['real/a'])
    expect(keysOf(await watch({ glob: '**', followSymlinks: true }).sweep())).toEqual([
      'b',
      'link/a',
      'real/a',
    ])
  })

  test('10,000 files are found once each, in bounded polls, with a small state', async () => {
    const paths = Array.from({ length: 10_000 }, (_, index) => `d${index % 7}/f${index}`)
    for (let folder = 0; folder < 7; folder++) mkdirSync(join(directory, `d${folder}`))
    for (const path of paths) closeSync(openSync(join(directory, path), 'w'))
    const watcher = watch({ glob: '**', filesPerPoll: 1500 })
    const found = await watcher.sweep()
    expect(found).toHaveLength(10_000)
    expect(new Set(keysOf(found))).toEqual(new Set(paths))
    expect(watcher.polls).toBeGreaterThanOrEqual(7)
    expect(watcher.largestState).toBeLessThan(4096)
    watcher.later(60_000)
    expect(await watcher.sweep()).toEqual([])
  }, 120_000)

  test('F5: the state is JSON from which another process continues', async () => {
    const paths = Array.from({ length: 40 }, (_, index) => `d${index % 3}/f${index}`)
    for (const path of paths) write(path)
    const seen: string[] = []
    let state = firstSweepState('')
    for (let isUnderWay = true; isUnderWay; ) {
      const process = watch({ glob: '**', filesPerPoll: 7 })
      process.state = state
      const result = await process.poll()
      seen.push(...keysOf(observationsOf(result)))
      state = process.state
      isUnderWay = state.open !== null
    }
    expect(seen.toSorted()).toEqual(paths.toSorted())
  })

  test('F5: files that come and go during a sweep hide no other', async () => {
    for (const path of ['a/1', 'b/1', 'c/1', 'd/1']) write(path)
    const watcher = watch({ glob: '**', filesPerPoll: 3 })
    await watcher.poll()
    rmSync(join(directory, 'a'), { recursive: true })
    rmSync(join(directory, 'b'), { recursive: true })
    write('a/0')
    await watcher.sweep()
    watcher.later(60_000)
    for (let count = 0; count < 2; count++) await watcher.sweep()
    for (const path of ['a/0', 'c/1', 'd/1']) expect(watcher.seen).toContain(path)
  })
})

describe('F9: what goes wrong is an error with its reason', () => {
  test('a missing directory, until it exists', async () => {
    const watcher = watch({ glob: 'in/*.csv' })
    expect(await watcher.poll()).toMatchObject({
      kind: 'error',
      reason: `there is no directory ${join(directory, 'in')}`,
    })
    write('in/a.csv')
    expect(keysOf(await watcher.sweep())).toEqual(['in/a.csv'])
  })

  test('an unreadable directory is named once, the others are processed, and its files are not lost', async () => {
    for (const path of ['a/1', 'locked/1', 'z/1']) write(path)
    const watcher = watch({ glob: '**' })
    chmodSync(join(directory, 'locked'), 0)
    await asNobody(async () => {
      expect(keysOf(observationsOf(await watcher.poll()))).toEqual(['a/1', 'z/1'])
      expect(await watcher.poll()).toMatchObject({
        kind: 'error',
        reason: expect.stringContaining(`the directory ${join(directory, 'locked')} cannot be read`),
      })
      watcher.later(60_000)
      expect(await watcher.poll()).toMatchObject({ kind: 'no-trigger', more: false })
    })
    chmodSync(join(directory, 'locked'), 0o755)
    for (let count = 0; count < 2; count++) await watcher.sweep()
    expect(watcher.seen).toContain('locked/1')
  })

  test.runIf(process.platform === 'linux')('a name that is not UTF-8 is named', async () => {
    execFileSync('sh', ['-c', `touch "$1/$(printf 'a\\377b')"`, 'sh', directory])
    expect(await watch({ glob: '*' }).poll()).toMatchObject({
      kind: 'error',
      reason: expect.stringContaining('its name is not UTF-8'),
    })
  })

  test('an aborted poll is resumed at its position', async () => {
    for (let index = 0; index < 20; index++) write(`f${index}`)
    const watcher = watch({ glob: '*' })
    expect(await watcher.poll(AbortSignal.abort())).toMatchObject({ kind: 'no-trigger', more: true })
    expect(await watcher.sweep()).toHaveLength(20)
  })

  test('all faults of the options are named together', () => {
    const options = { glob: '../x', directory: 3, settle: -1, partition: 1, watsch: true }
    expect(() => filesSensor(options as unknown as FilesSensorOptions)).toThrow(
      expect.objectContaining({
        code: 'DEFINITION_INVALID',
        faults: expect.arrayContaining(
          ['glob', 'directory', 'settle', 'partition', 'watsch'].map((path) =>
            expect.objectContaining({ path }),
          ),
        ),
      }),
    )
  })
})

describe('F11: a watch wakes the sensor', () => {
  test('the watch notifies when it has started, and of each new file, and the poll finds it', async () => {
    mkdirSync(join(directory, 'in'))
    const { watch: begin, config } = filesSensor({ directory, glob: 'in/*.csv', settle: 0 })
    const hints = new EventEmitter()
    const end = begin?.(() => hints.emit('hint'), config)
    await once(hints, 'hint')
    const next = once(hints, 'hint')
    write('in/notes.txt')
    write('in/a.csv')
    await next
    end?.()
    expect(keysOf(await watch({ glob: 'in/*.csv', settle: 0 }).sweep())).toEqual(['in/a.csv'])
  })

  test('there is none with watch: false, and one on a missing directory does no harm', () => {
    expect(filesSensor({ glob: '*', watch: false }).watch).toBeUndefined()
    const { watch: begin, config } = filesSensor({ directory: join(directory, 'nowhere'), glob: '*' })
    begin?.(() => undefined, config)()
  })
})

function write(path: string, text = 'x'): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), text)
}

function changedAt(path: string): number {
  return lstatSync(join(directory, path)).ctimeMs
}

/** Runs as another user if this is root, because permissions do not apply to root. */
async function asNobody(action: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) chmodSync(directory, 0o755)
  if (isRoot) process.seteuid?.(65_534)
  try {
    await action()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

/** A sensor with its state and its own time, polled as an engine does. */
function watch(options: FilesSensorOptions, timezone = 'UTC') {
  const { sensor, config } = filesSensor({ directory, ...options })
  const watcher = {
    state: firstSweepState(''),
    seen: new Set<string>(),
    polls: 0,
    largestState: 0,
    now: lstatSync(directory).ctimeMs + 30_000,
    later(ms: number): void {
      watcher.now += ms
    },
    async poll(signal = new AbortController().signal): Promise<PollResult<SweepState>> {
      const result = await sensor.poll(watcher.state, {
        config,
        now: new Date(watcher.now),
        timezone,
        signal,
      })
      const text = JSON.stringify(result.state)
      watcher.state = JSON.parse(text) as SweepState
      watcher.largestState = Math.max(watcher.largestState, text.length)
      watcher.polls++
      for (const { key } of observationsOf(result)) watcher.seen.add(key)
      return result
    },
    async sweep(): Promise<readonly Observation[]> {
      const found: Observation[] = []
      for (;;) {
        const result = await watcher.poll()
        if (result.kind === 'error') throw new Error(result.reason)
        found.push(...observationsOf(result))
        if (result.more !== true) return found
      }
    },
  }
  return watcher
}

function observationsOf(result: PollResult<SweepState>): readonly Observation[] {
  return result.kind === 'trigger' ? result.observations : []
}

function keysOf(observations: readonly Observation[]): readonly string[] {
  return observations.map(({ key }) => key)
}
