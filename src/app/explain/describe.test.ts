import { expect, it } from 'vitest'
import { describe } from './describe.js'

it.each([
  ['0 9 * * *', 'At 09:00'],
  ['@daily', 'At 00:00'],
  ['*/5 * * * * *', 'Every 5 seconds'],
  ['0 0 * * 5#2', 'At 00:00, on the second Friday of the month'],
  ['0 0 LW * *', 'At 00:00, on the last weekday of the month'],
  ['0 0 L-3 * *', 'At 00:00, 3 days before the last day of the month'],
  ['0 0 L-3W * *', 'At 00:00, on the weekday nearest to 3 days before the last day of the month'],
  ['0 0 * * FRI#L', 'At 00:00, on the last Friday of the month'],
  // Not "and": a day that satisfies either field counts.
  ['0 0 1 * 1', 'At 00:00, on day 1 of the month or on Monday'],
  ['0 9 13 6 FRI', 'At 09:00, on day 13 of the month or on Friday, only in June'],
  [
    '*/5 9 1-7 * 1-5',
    'Every 5 minutes, between 09:00 and 09:59, between day 1 and 7 of the month or Monday through Friday',
  ],
  [
    '0 0 0 L 1,7 FRI#2 2027',
    'At 00:00, on the last day of the month or on the second Friday of the month, only in January and July, only in 2027',
  ],
  [
    '* * L-1W * MON#L',
    'Every minute, on the weekday nearest to 1 day before the last day of the month or on the last Monday of the month',
  ],
  // The library cannot describe this list.
  ['0 0 1,15W * *', '0 0 1,15W * *'],
])('%s reads %s', (expression, words) => {
  expect(describe(expression)).toBe(words)
})

it('refuses an invalid expression with a code', () => {
  expect(() => describe('61 * * * *')).toThrow(expect.objectContaining({ code: 'CRON_RANGE' }))
})
