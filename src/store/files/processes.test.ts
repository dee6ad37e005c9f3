import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, aTrigger, Stage, t0 } from '../conformance/stage.js'
import { openFilesStore } from './files-store.js'

const script = fileURLToPath(new URL('fixtures/process.mjs', import.meta.url))
const built = fileURLToPath(new URL('../../../dist/store/files/files-store.js', import.meta.url))

let directory: string
let path: string

beforeEach(() => {
  if (!existsSync(built))
    throw new Error('These processes run the built package: `npm run build` comes first')
  directory = mkdtempSync(join(tmpdir(), 'rota-files-'))
  path = join(directory, 'data')
})

afterEach(() => rmSync(directory, { recursive: true }))

it('Q6: processes that open a new directory and enqueue at once make one store, and each run once', async () => {
  const outputs = await Promise.all(['a', 'b', 'c', 'd'].map((name) => outputOf(['enqueue', path, name])))
  const ids = outputs.map((lines) => lines.at(-1))
  expect(new Set(ids).size).toBe(1)
  const shared = outputs.flatMap((lines) => lines.slice(0, -1))
  expect(new Set(shared).size).toBe(20)
  expect(shared.length).toBe(20)
  expect(readdirSync(join(path, 'pending')).length).toBe(4 * 20 + 20)
  await withStore(async ({ store }) => expect((await store.counts()).pending).toBe(100))
})

it('G5, Q7: no run is claimed by two processes, and none is left', async () => {
  const runs = Array.from({ length: 120 }, (_, i) => aRun(`r${i}`))
  await withStore(async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.enqueue(runs)
  })
  const outputs = await Promise.all(['a', 'b', 'c', 'd'].map((name) => outputOf(['perform', path, name])))
  expect(outputs.flat().toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
  expect(readdirSync(join(path, 'done')).length).toBe(120)
  expect(readdirSync(join(path, 'pending'))).toEqual([])
  await withStore(async ({ store }) => expect((await store.counts()).done).toBe(120))
})

it('G2, G7: a scheduler killed at any instruction leaves cursor and runs in step', async () => {
  await withStore(async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'), { nextAt: t0 })
  })
  for (const lines of [3, 40, 11, 25, 1, 60]) {
    const said = await killedAfter(['plan', path, ''], lines)
    const acknowledged = Number(said.at(-1)?.split(' ')[1])
    await withStore(async ({ store }) => {
      const [trigger] = await store.triggers({ names: ['t'] })
      const cursorAt = trigger?.cursorAt ?? 0
      const window = { trigger: 't', fromAt: t0, untilAt: t0 * 2, limit: 10_000 }
      const instants = (await store.runInstants(window)).map(({ dueAt }) => dueAt)
      expect(instants).toEqual(Array.from({ length: cursorAt - t0 }, (_, i) => t0 + 1 + i))
      expect(cursorAt).toBeGreaterThanOrEqual(acknowledged)
      expect((await store.health({ now: t0, deep: true })).faults).toEqual([])
    })
  }
})

async function withStore(use: (stage: Stage) => Promise<void>): Promise<void> {
  const store = await openFilesStore({ path, clock: systemClock })
  try {
    await use(new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() }))
  } finally {
    await store.close()
  }
}

/** What a process says until it ends by itself, which it must do well. */
async function outputOf(args: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, [script, ...args])
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const errors: string[] = []
  child.stderr.on('data', (data: Buffer) => errors.push(data.toString()))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) lines.push(line)
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
