import { expect, it } from 'vitest'
import { defineRound } from '../definition.js'
import { simulateInFile, simulateInMemory, type World } from '../../../../test/simulation/worlds.js'
import { RoundObserver } from './round-observer.js'

/** Rounds of different pace; two of them share a service, and two check at the same instants. */
const rounds = [
  defineRound('hourly', { every: '1h', services: ['a', 'b', { job: 'daily', every: '24h' }, 'c'] }),
  defineRound('also-hourly', { every: '1h', services: [{ job: 'daily', every: '24h' }, 'c', 'd'] }),
  defineRound('slow', { every: '7h', services: [{ job: 'b', every: '1h' }, 'e', { job: 'a', every: '1h' }] }),
  defineRound('alone', { every: '20m', services: ['f', { job: 'g', every: '1h' }] }),
]

/** A new world of these rounds. */
const world = (): World => ({
  startAt: Date.UTC(2026, 0, 5),
  crashEveryMs: 3 * 3_600_000,
  triggers: rounds,
  observers: [new RoundObserver(rounds)],
})

const seed = Number(process.env['SEED'] ?? 20260105)
const days = Number(process.env['DAYS'] ?? 30)

it(`R2–R11: rounds of processes that die after any call of the store keep order, timing and promises, on the memory store (seed ${seed})`, async () => {
  const report = await simulateInMemory({ seed, days }, world())
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days)
}, 300_000)

it(`R2–R11: the same on one SQLite file (seed ${seed})`, async () => {
  const report = await simulateInFile({ seed, days: days / 3 }, world())
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days / 3)
}, 300_000)
