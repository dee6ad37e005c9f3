import { expect, it } from 'vitest'
import { worldOn } from '../../../../test/simulation/lawless-world.js'
import { defineRound } from '../definition.js'
import { RoundObserver } from './round-observer.js'

it('the simulation detects rounds that start a service without comparing its timing', async () => {
  const rounds = [
    defineRound('one', { every: '1h', services: ['a'] }),
    defineRound('two', { every: '1h', services: ['a'] }),
  ]
  const report = await worldOn(
    (store) => ({
      // The second round does not notice that the service is in flight.
      tick: (batch) =>
        store.tick(
          batch.map((tick) => ({
            ...tick,
            stateChanges: tick.stateChanges?.map((change) => ({ ...change, revision: undefined })),
          })),
        ),
    }),
    rounds,
    [new RoundObserver(rounds)],
  )
  expect(report.broken.some((sentence) => sentence.startsWith('R10: a at '))).toBe(true)
})
