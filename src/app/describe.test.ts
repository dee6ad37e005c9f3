import { expect, it } from 'vitest'
import { describe } from './describe.js'

it.each([
  ['0 9 * * *', 'At 09:00'],
  ['@daily', 'At 00:00'],
  ['*/5 * * * * *', 'Every 5 seconds'],
  ['0 0 * * 5#2', 'At 00:00, on the second Friday of the month'],
  ['0 0 LW * *', 'At 00:00, on the last weekday of the month'],
])('%s reads %s', (expression, words) => {
  expect(describe(expression)).toBe(words)
})

it('refuses what is not an expression with a code', () => {
  expect(() => describe('61 * * * *')).toThrow(expect.objectContaining({ code: 'CRON_RANGE' }))
})
