import { expect, it } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.js'
import { HintPace } from './hint-pace.js'

const t0 = Date.UTC(2026, 0, 5)

/** A pace whose looks find runs while `state.hasFound`; the times of the looks. */
function paced() {
  const clock = new FakeClock(t0)
  const at: number[] = []
  const state = { hasFound: false }
  const pace = new HintPace(clock, () => {
    at.push(clock.now() - t0)
    pace.cover()
    pace.looked(state.hasFound)
  })
  return { clock, at, pace, state }
}

it('hints that are in vain lead to looks that become rarer', async () => {
  const { clock, at, pace } = paced()
  for (let ms = 0; ms < 60; ms++) {
    pace.hint()
    await clock.advance('1ms')
  }
  expect(at).toEqual([0, 2, 6, 14, 30, 46])
})

it('after a while without a look, and after a look that found runs, a hint leads to a look at once', async () => {
  const { clock, at, pace, state } = paced()
  for (let n = 0; n < 5; n++) {
    await clock.advance('1s')
    pace.hint()
  }
  expect(at).toEqual([1000, 2000, 3000, 4000, 5000])
  state.hasFound = true
  await clock.advance('1s')
  for (let n = 0; n < 3; n++) pace.hint()
  expect(at.slice(5)).toEqual([6000, 6000, 6000])
})

it('a turn for another reason covers a hint that waits', async () => {
  const { clock, at, pace } = paced()
  pace.hint()
  pace.hint()
  pace.cover()
  pace.looked(false)
  await clock.advance('1s')
  expect(at).toEqual([0])
})
