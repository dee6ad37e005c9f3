import { expect, it } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { shapeOf } from './error-shape.js'

it.each([
  ['connect ECONNREFUSED 10.0.0.7:25', 'connect ECONNREFUSED …'],
  ['connect ECONNREFUSED 10.0.0.8:2525', 'connect ECONNREFUSED …'],
  ['order 5f2a-11 of "Ann" was not found', 'order … of … was not found'],
  ["no such file: '/data/2026-01-05.csv'\n  at x", 'no such file: …'],
  ['it failed', 'it failed'],
  ['', ''],
])('the shape of %j is %j', (message, shape) => {
  expect(shapeOf(message)).toBe(shape)
})

it('the shape of any message is computed quickly', () => {
  const startMs = systemClock.monotonicMs()
  for (const part of ['"', "'", '1-', '…', '1.', '_', '"1']) shapeOf(part.repeat(100_000))
  expect(systemClock.monotonicMs() - startMs).toBeLessThan(500)
})
