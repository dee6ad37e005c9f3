import { expect, it } from 'vitest'
import { FakeClock, settled } from './fake-clock.js'
import { SeededRandom } from './random.js'

const t0 = Date.UTC(2026, 0, 5)

it('timers fire in the order of their instants, then in the order of creation', async () => {
  const random = new SeededRandom(1)
  const clock = new FakeClock(t0)
  const fired: [number, number][] = []
  const cancels: (() => void)[] = []
  for (let i = 0; i < 500; i++)
    cancels.push(clock.timer(random.int(0, 50), () => fired.push([clock.monotonicMs(), i])))
  const cancelled = new Set(Array.from({ length: 400 }, () => random.int(0, 499)))
  for (const index of cancelled) cancels[index]?.()
  await clock.advance(100)
  const kept = Array.from({ length: 500 }, (_, i) => i).filter((i) => !cancelled.has(i))
  expect(fired.map(([, i]) => i).toSorted((a, b) => a - b)).toEqual(kept)
  expect(fired).toEqual(fired.toSorted(([a, i], [b, j]) => a - b || i - j))
  expect(clock.now()).toBe(t0 + 100)
})

it('timers of the wall clock follow its steps, timers of elapsed time do not', async () => {
  const clock = new FakeClock(t0)
  const ended: string[] = []
  void clock.sleep(1000).then(() => ended.push('passed'))
  void clock.sleepUntil(t0 + 1000).then(() => ended.push('shown'))
  clock.step(-5000)
  await clock.advance(1000)
  expect(ended).toEqual(['passed'])
  clock.step(5000)
  await clock.advance(0)
  expect(ended).toEqual(['passed', 'shown'])
})

it('a stopped clock fires no timer of its process, and other clocks continue', async () => {
  const clock = new FakeClock(t0)
  const dead = clock.fork()
  const fired: string[] = []
  dead.timer(10, () => fired.push('dead'))
  clock.timer(10, () => fired.push('alive'))
  dead.stop()
  dead.timer(10, () => fired.push('dead again'))
  await clock.advance(20)
  expect(fired).toEqual(['alive'])
})

it('timers that are due at one instant fire together before anything settles', async () => {
  const clock = new FakeClock(t0)
  const order: string[] = []
  for (const name of ['a', 'b']) clock.timer(5, () => order.push(name))
  await clock.advance(10, async () => void order.push('settled'))
  expect(order).toEqual(['settled', 'a', 'b', 'settled'])
})

it('an aborted sleep ends immediately, and only once', async () => {
  const clock = new FakeClock(t0)
  const controller = new AbortController()
  let ended = 0
  void clock.sleep(1000, controller.signal).then(() => (ended += 1))
  controller.abort()
  await clock.advance(2000)
  expect(ended).toBe(1)
})

it('what is deferred happens later, in order, and `quiet` waits for all that follows without the event loop', async () => {
  const clock = new FakeClock(t0)
  const order: string[] = []
  clock.defer(() => {
    order.push('first')
    void Promise.resolve().then(() => clock.defer(() => order.push('third')))
  })
  clock.defer(() => order.push('second'))
  let hasTurned = false
  setImmediate(() => (hasTurned = true))
  expect(order).toEqual([])
  await clock.quiet()
  expect(order).toEqual(['first', 'second', 'third'])
  expect(hasTurned).toBe(false)
})

it('what is deferred also happens where nobody waits for it, once', async () => {
  const clock = new FakeClock(t0)
  let calls = 0
  clock.fork().defer(() => (calls += 1))
  await settled()
  expect(calls).toBe(1)
})
