import { expect, it } from 'vitest'
import { FakeClock } from '../testing/fake-clock.js'
import { ChangePoll } from './change-poll.js'

const t0 = Date.UTC(2026, 0, 5)

function polled(stamp: () => Promise<unknown>) {
  const clock = new FakeClock(t0)
  const at: number[] = []
  const onChange = (): void => void at.push(clock.now() - t0)
  const poll = new ChangePoll({ stamp, clock, everyMs: 2000, onChange })
  poll.start()
  return { clock, at, poll }
}

it('reports each change once, within the interval, and nothing else', async () => {
  let stamp = 1
  const { clock, at, poll } = polled(async () => stamp)
  await clock.advance('10s')
  expect(at).toEqual([2000])
  stamp = 2
  await clock.advance('10s')
  expect(at).toEqual([2000, 12_000])
  poll.stop()
  stamp = 3
  await clock.advance('10s')
  expect(at).toEqual([2000, 12_000])
})

it('does not tell again of a commit that a hint told of, and tells of the next one', async () => {
  let stamp = 1
  const { clock, at, poll } = polled(async () => stamp)
  await clock.advance('2s')
  stamp = 2
  await poll.hinted()
  await clock.advance('2s')
  expect(at).toEqual([2000])
  stamp = 3
  await poll.hinted()
  stamp = 4
  await poll.hinted()
  await clock.advance('2s')
  expect(at).toEqual([2000, 6000])
})

it('treats a store that does not answer as changed', async () => {
  const { clock, at } = polled(() => Promise.reject(new Error('away')))
  await clock.advance('6s')
  expect(at).toEqual([2000, 4000, 6000])
})

it('reports that the wall clock was set, forward or back', async () => {
  const { clock, at } = polled(async () => 1)
  await clock.advance('4s')
  clock.step(60_000)
  await clock.advance('4s')
  clock.step(-60_000)
  await clock.advance('4s')
  expect(at).toEqual([2000, 66_000, 10_000])
})
