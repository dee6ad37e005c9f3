import type { World } from '../../../../test/simulation/worlds.js'
import { defineRound } from '../definition.js'
import { RoundObserver } from './round-observer.js'

/** Rounds with different intervals; two of them share a service, and two check at the same instants. */
const rounds = [
  defineRound('hourly', { every: '1h', services: ['a', 'b', { job: 'daily', every: '24h' }, 'c'] }),
  defineRound('also-hourly', { every: '1h', services: [{ job: 'daily', every: '24h' }, 'c', 'd'] }),
  defineRound('slow', { every: '7h', services: [{ job: 'b', every: '1h' }, 'e', { job: 'a', every: '1h' }] }),
  defineRound('alone', { every: '20m', services: ['f', { job: 'g', every: '1h' }] }),
]

/** A new simulation of these rounds. */
export function roundWorld(): World {
  return {
    startAt: Date.UTC(2026, 0, 5),
    crashEveryMs: 3 * 3_600_000,
    triggers: rounds,
    observers: [new RoundObserver(rounds)],
  }
}
