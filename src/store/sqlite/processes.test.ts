import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, aTrigger, Stage, t0 } from '../conformance/stage.js'
import { openSqliteStore } from './sqlite-store.js'

const script = fileURLToPath(new URL('fixtures/process.mjs', import.meta.url))
const built = fileURLToPath(new URL('../../../dist/store/sqlite/sqlite-store.js', import.meta.url))

let directory: string
let path: string

beforeEach(() => {
  if (!existsSync(built))
    throw new Error('These processes run the built package: `npm run build` comes first')
  directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
  path = join(directory, 'rota.db')
})

afterEach(() => rmSync(directory, { recursive: true }))

it('processes that open a new file at once make one store of it', async () => {
  const outputs = await Promise.all(Array.from({ length: 4 }, () => outputOf(['open', path, ''])))
  expect(new Set(outputs.flat()).size).toBe(1)
  await withStore(async ({ store }) => expect((await store.counts()).pending).toBe(4))
})

it('G5: no run is claimed by two processes, and none is left', async () => {
  const runs = Array.from({ length: 500 }, (_, i) => aRun(`r${i}`))
  await withStore(async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.enqueue(runs)
  })
  const outputs = await Promise.all(['a', 'b', 'c'].map((name) => outputOf(['perform', path, name])))
  expect(outputs.flat().toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
  await withStore(async ({ store }) => expect((await store.counts()).done).toBe(500))
})

it('G2, G7: a scheduler killed at any instruction leaves cursor and runs in step', async () => {
  await withStore(async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'), { nextAt: t0 })
  })
  for (const lines of [3, 40, 11, 90]) {
    const said = await killedAfter(['plan', path, ''], lines)
    const acknowledged = Number(said.at(-1)?.split(' ')[1])
    await withStore(async ({ store }) => {
      const [trigger] = await store.triggers({ names: ['t'] })
      const cursorAt = trigger?.cursorAt ?? 0
      const window = { trigger: 't', fromAt: t0, untilAt: t0 * 2, limit: 10_000 }
      const instants = (await store.runInstants(window)).map(({ dueAt }) => dueAt)
      expect(instants).toEqual(Array.from({ length: cursorAt - t0 }, (_, i) => t0 + 1 + i))
      expect(cursorAt).toBeGreaterThanOrEqual(acknowledged)
    })
  }
})

it('G9: a disk that refuses a write closes the store, and what was acknowledged is there', async () => {
  const words = [process.execPath, script, 'fill', path, ''].map((word) => `'${word}'`).join(' ')
  // The limit on the size of a file makes the write fail; the signal that goes with it is ignored.
  const said = await linesOf(spawn('bash', ['-c', `trap '' XFSZ; ulimit -f 800; exec ${words}`]))
  expect(said).toEqual(['STORE_IO', 'STORE_IO', 'STORE_IO'])
  await withStore(async ({ store }) => {
    expect((await store.counts()).pending % 500).toBe(0)
    expect((await store.health({ now: t0, deep: true })).faults).toEqual([])
  })
})

async function withStore(use: (stage: Stage) => Promise<void>): Promise<void> {
  const store = await openSqliteStore({ path, clock: systemClock })
  try {
    await use(new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() }))
  } finally {
    await store.close()
  }
}

function outputOf(args: readonly string[]): Promise<string[]> {
  return linesOf(spawn(process.execPath, [script, ...args]))
}

type Child = ReturnType<typeof spawn>

/** What a process says until it ends by itself, which it must do well. */
async function linesOf(child: Child): Promise<string[]> {
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const errors: string[] = []
  child.stderr?.on('data', (data: Buffer) => errors.push(data.toString()))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) lines.push(line)
  expect([await ended, errors.join('')]).toEqual([0, ''])
  return lines
}

/** What a process says until it is killed, right after a number of lines. */
async function killedAfter(args: readonly string[], count: number): Promise<string[]> {
  const child = spawn(process.execPath, [script, ...args])
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (lines.length === count) child.kill('SIGKILL')
  }
  await ended
  return lines
}
