import { fork, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../../app/store/open-store.js'
import { coverageOf } from '../../../engine/explain/coverage.js'
import { roundFacts } from '../facts.js'
import { sync } from '../../../engine/sync/sync.js'
import { isComplete } from '../../../kernel/ledger/coverage.js'
import { defineJob } from '../../../kernel/job/define-job.js'
import { defineRound } from '../definition.js'
import type { Run } from '../../../kernel/run/run.js'
import { planRound } from '../plan.js'
import { openMemoryStore } from '../../../store/memory/memory-store.js'
import type { Store } from '../../../store/port.js'
import { systemClock } from '../../../time/clock.js'
import { Player } from './player.mjs'
import { endEffects } from '../../../../test/fixtures/feature-parts.js'
import { emptyTables } from '../../../store/memory/tables.js'
import { kinds } from '../../../../test/fixtures/feature-parts.js'

const script = fileURLToPath(new URL('player.mjs', import.meta.url))
const t0 = Date.UTC(2026, 0, 5)
const hour = 3_600_000

/** The number of services that two rounds share, and of checks at the same instants. */
interface Size {
  readonly services: number
  readonly checks: number
}

it('R10: in ten thousand simultaneous checks of two processes, the shared service runs once each, on SQLite', async () => {
  const url = `sqlite:${join(await aDirectory(), 'rota.db')}`
  const runs = await inTwoProcesses(url, { services: 100, checks: 100 })
  // Each round won sometimes: neither was always too late.
  expect(new Set(runs.map(({ trigger }) => trigger?.slice(0, 1))).size).toBe(2)
}, 120_000)

it('R10: the same with a file store', async () => {
  const url = `files:${join(await aDirectory(), 'data')}`
  await inTwoProcesses(url, { services: 5, checks: 20 })
}, 60_000)

it('R10: the same with two schedulers in one process, on the memory store', async () => {
  const size = { services: 20, checks: 50 }
  const store = openMemoryStore(emptyTables(endEffects))
  await define(store, size)
  const functions = { planRound, roundFacts, store, services: names(size) }
  const players = [1, 2].map(
    (seed) => new Player({ ...functions, prefix: `${seed}-`, worker: `worker-${seed}`, seed }),
  )
  for (const player of players) await player.join(0)
  for (const now of instants(size)) await Promise.all(players.map((player) => player.play(now)))
  await verify(store, size)
})

async function inTwoProcesses(url: string, size: Size): Promise<readonly Run[]> {
  const before = await open(url)
  await define(before, size)
  await before.close()
  const players = [1, 2].map((seed) => fork(script, [url, `${seed}-`, String(seed), ...names(size)]))
  onTestFinished(() => {
    for (const player of players) player.kill('SIGKILL')
  })
  await Promise.all(players.map((player) => answer(player)))
  for (const now of instants(size)) {
    await Promise.all(
      players.map(async (player) => {
        const played = answer(player)
        player.send({ now })
        await played
      }),
    )
  }
  const left = players.map((player) => new Promise((resolve) => player.once('exit', resolve)))
  for (const player of players) player.send({})
  expect(await Promise.all(left)).toEqual([0, 0])
  const after = await open(url)
  const runs = await verify(after, size)
  await after.close()
  return runs
}

async function open(url: string): Promise<Store> {
  return await openStore(url, { clock: systemClock, durability: 'normal', directory: '/', create: true })
}

async function aDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rota-shared-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

function names({ services }: Size): string[] {
  return Array.from({ length: services }, (_, index) => `s${index}`)
}

function instants({ checks }: Size): number[] {
  return Array.from({ length: checks }, (_, index) => t0 + index * hour)
}

async function define(store: Store, size: Size): Promise<void> {
  const jobs = names(size).map((name) => defineJob(name, { handler: () => undefined }))
  const triggers = [1, 2].flatMap((round) =>
    names(size).map((name) => defineRound(`${round}-${name}`, { every: '1h', services: [name] })),
  )
  await sync(store, { name: 'code:test', jobs, queues: [], triggers }, { kinds, now: t0 })
}

async function answer(player: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    player.once('message', () => resolve())
    player.once('exit', (code) => reject(new Error(`a player left with ${code}`)))
  })
  player.removeAllListeners('exit')
}

/** Every service ran once for every instant, and every check of both rounds has its result in the ledger. */
async function verify(store: Store, size: Size): Promise<readonly Run[]> {
  const all = await store.runs({ limit: 1_000_000 })
  const keys = all.map(({ job, dueAt, state }) => `${job} ${(dueAt - t0) / hour} ${state}`)
  const wanted = names(size).flatMap((name) => instants(size).map((_, index) => `${name} ${index} done`))
  expect(keys.toSorted()).toEqual(wanted.toSorted())
  for (const trigger of await store.triggers()) {
    const coverage = await coverageOf(store, trigger, { kinds })
    expect(isComplete(coverage)).toBe(true)
    expect(coverage.explained).toEqual({ checked: size.checks })
  }
  return all
}
