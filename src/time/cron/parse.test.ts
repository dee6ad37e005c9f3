import { describe, expect, it } from 'vitest'
import { refusalOf } from '../../../test/time/refusal.js'
import type { TimeErrorCode } from '../time-error.js'
import type { CronExpression } from './expression.js'
import { parseCron } from './parse.js'

describe('an accepted expression', () => {
  it.each<[written: string, same: string]>([
    ['5/15 * * * *', '5-59/15 * * * *'],
    ['5/15 * * * *', '5,20,35,50 * * * *'],
    ['*/20 * * * *', '0,20,40 * * * *'],
    ['10-30/10 * * * *', '10,20,30 * * * *'],
    ['0 0 * * 7', '0 0 * * 0'],
    ['0 0 * * FRI-SUN', '0 0 * * 5,6,0'],
    ['0 0 * * 5-7', '0 0 * * 5,6,0'],
    ['0 0 * * 0-7', '0 0 * * 0-6'],
    ['0 0 * * mon-Fri', '0 0 * * 1-5'],
    ['0 0 * * SUN-SUN', '0 0 * * 0'],
    ['0 0 * * 7/2', '0 0 * * 0,2,4,6'],
    ['0 0 * * 1/2', '0 0 * * 1,3,5'],
    ['0 0 1 jan,JUL-Sep *', '0 0 1 1,7-9 *'],
    ['0 0 ? * 1', '0 0 * * 1'],
    ['0 0 1 * ?', '0 0 1 * *'],
    ['0 0 */1 * 1', '0 0 * * 1'],
    ['0 0 * * 5l', '0 0 * * FRIL'],
    ['0 0 * * wed#2', '0 0 * * 3#2'],
    ['0 0 * * FRI#L', '0 0 * * 5L'],
    ['0 0 * * 5#l', '0 0 * * 5L'],
    ['0 0 lw * *', '0 0 LW * *'],
    ['0 0 l-3w * *', '0 0 L-3W * *'],
    ['0 0 L-03 * *', '0 0 L-3 * *'],
    ['0 0 31w * *', '0 0 31W * *'],
    ['0 30 9 * * *', '30 9 * * *'],
    ['0 30 9 * * * *', '30 9 * * *'],
    ['  30   9 * *\t* ', '30 9 * * *'],
    ['05 09 * * *', '5 9 * * *'],
    ['*/60 */24 * * *', '0/60 0/24 * * *'],
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['@monthly', '0 0 1 * *'],
    ['@weekly', '0 0 * * 0'],
    ['@daily', '0 0 * * *'],
    ['@Midnight', '0 0 * * *'],
    [' @hourly ', '0 * * * *'],
  ])('%s means %s', (written, same) => {
    expect(meaning(parseCron(written))).toEqual(meaning(parseCron(same)))
  })

  it('is frozen and keeps its text', () => {
    const cron = parseCron('0 0 9 L * MON#2 2026')
    const parts = [cron, cron.years, cron.dayRules, cron.dayRules?.nthWeekdays]
    expect(parts.map((part) => Object.isFrozen(part))).toEqual([true, true, true, true])
    expect(cron.source).toBe('0 0 9 L * MON#2 2026')
  })

  it.each<[expression: string, isFixed: boolean]>([
    ['30 2 * * *', true],
    ['0,30 2 * * *', true],
    ['0-59 2 * * *', true],
    ['0,*/5 2 * * *', true],
    ['*/5 2 * * *', false],
    ['30 * * * *', false],
    ['30 */6 * * *', false],
    ['0 30 2 * * *', true],
    ['* 30 2 * * *', false],
    ['@hourly', false],
    ['@daily', true],
  ])('%s has fixed times: %s', (expression, isFixed) => {
    expect(parseCron(expression).hasFixedTimes).toBe(isFixed)
  })

  it.each<[expression: string, isEither: boolean]>([
    ['0 0 1 * 1', true],
    ['0 0 1 * *', false],
    ['0 0 * * 1', false],
    ['0 0 ? * 1', false],
    ['0 0 */1 * 1', false],
    ['0 0 */2 * 1', true],
    ['0 0 1-31 * 1', true],
    ['0 0 1 * 0-6', true],
    ['0 0 L * 5#2', true],
  ])('%s takes either day: %s', (expression, isEither) => {
    expect(parseCron(expression).isEitherDay).toBe(isEither)
  })
})

describe('a refused expression', () => {
  it.each<[expression: string, code: TimeErrorCode, position: number | undefined, hint: RegExp]>([
    ['', 'CRON_FIELD_COUNT', 0, /minute hour/],
    ['   ', 'CRON_FIELD_COUNT', 3, /minute hour/],
    ['* * * *', 'CRON_FIELD_COUNT', 7, /minute hour/],
    ['* * * * * * * *', 'CRON_FIELD_COUNT', 14, /minute hour/],
    ['60 * * * *', 'CRON_RANGE', 0, /0-59/],
    ['0 24 * * *', 'CRON_RANGE', 2, /0-23/],
    ['0 9-24 * * *', 'CRON_RANGE', 4, /0-23/],
    ['0 0 0 * *', 'CRON_RANGE', 4, /1-31/],
    ['0 0 32 * *', 'CRON_RANGE', 4, /1-31/],
    ['0 0 32W * *', 'CRON_RANGE', 4, /1-31/],
    ['0 0 1 13 *', 'CRON_RANGE', 6, /1-12/],
    ['0 0 * * 8', 'CRON_RANGE', 8, /0-7/],
    ['0 0 0 * * * 1969', 'CRON_RANGE', 12, /1970-2199/],
    ['0 0 0 * * * 2200', 'CRON_RANGE', 12, /1970-2199/],
    ['99999999999999999999 * * * *', 'CRON_RANGE', 0, /0-59/],
    ['0 22-6 * * *', 'CRON_RANGE', 2, /^22-23,0-6$/],
    ['0 0 * NOV-FEB *', 'CRON_RANGE', 6, /^11-12,1-2$/],
    ['0 0 * * FRI-MON', 'CRON_RANGE', 8, /^5-7,1$/],
    ['0 0 * * 5-0', 'CRON_RANGE', 8, /^5-7$/],
    ['0 0 * * 7-2', 'CRON_RANGE', 8, /^0-2$/],
    ['*/0 * * * *', 'CRON_RANGE', 2, /^1-60$/],
    ['*/61 * * * *', 'CRON_RANGE', 2, /^1-60$/],
    ['0 */25 * * *', 'CRON_RANGE', 4, /^1-24$/],
    ['0 0 * * 5#0', 'CRON_RANGE', 10, /^1-5$/],
    ['0 0 * * 5#6', 'CRON_RANGE', 10, /^1-5$/],
    ['0 0 L-0 * *', 'CRON_RANGE', 6, /^1-30$/],
    ['0 0 L-31 * *', 'CRON_RANGE', 6, /^1-30$/],
    ['0 0 L-31W * *', 'CRON_RANGE', 6, /^1-30$/],
    ['a * * * *', 'CRON_SYNTAX', 0, /0-59/],
    ['1,,2 * * * *', 'CRON_SYNTAX', 2, /lists/],
    ['1, * * * *', 'CRON_SYNTAX', 2, /lists/],
    ['1- * * * *', 'CRON_SYNTAX', 2, /ranges/],
    ['-1 * * * *', 'CRON_SYNTAX', 0, /0-59/],
    ['*/ * * * *', 'CRON_SYNTAX', 2, /steps/],
    ['*/x * * * *', 'CRON_SYNTAX', 2, /steps/],
    ['*5 * * * *', 'CRON_SYNTAX', 1, /0-59/],
    ['1.5 * * * *', 'CRON_SYNTAX', 1, /0-59/],
    ['1-5-7 * * * *', 'CRON_SYNTAX', 3, /0-59/],
    ['1/2/3 * * * *', 'CRON_SYNTAX', 3, /0-59/],
    ['? * * * *', 'CRON_SYNTAX', 0, /0-59/],
    ['0 0 0 * * ? ?', 'CRON_SYNTAX', 12, /1970-2199/],
    ['0 0 ?,1 * *', 'CRON_SYNTAX', 4, /\?/],
    ['0 0 ?/2 * *', 'CRON_SYNTAX', 4, /\?/],
    ['0 0 W * *', 'CRON_SYNTAX', 4, /15W/],
    ['0 0 L- * *', 'CRON_SYNTAX', 6, /L-3W/],
    ['0 0 L-W * *', 'CRON_SYNTAX', 6, /L-3W/],
    ['0 0 L-3-1 * *', 'CRON_SYNTAX', 7, /L-3W/],
    ['0 0 LW-3 * *', 'CRON_SYNTAX', 6, /L-3W/],
    ['0 0 3-L * *', 'CRON_SYNTAX', 6, /L-3/],
    ['0 0 * * 5#LL', 'CRON_SYNTAX', 11, /5#L/],
    ['0 0 * * 1-5#L', 'CRON_SYNTAX', 11, /5#L/],
    ['0 0 WL * *', 'CRON_SYNTAX', 4, /LW/],
    ['0 0 15WX * *', 'CRON_SYNTAX', 7, /15W/],
    ['0 0 1-15W * *', 'CRON_SYNTAX', 8, /15W/],
    ['0 L * * *', 'CRON_SYNTAX', 2, /0-23/],
    ['0 0 1#2 * *', 'CRON_SYNTAX', 5, /15W/],
    ['0 0 * MONDAY *', 'CRON_SYNTAX', 6, /JAN-DEC/],
    ['0 0 * * MONDAY', 'CRON_SYNTAX', 11, /SUN-SAT/],
    ['0 0 * * MO', 'CRON_SYNTAX', 8, /SUN-SAT/],
    ['0 0 * * 5#', 'CRON_SYNTAX', 10, /5#2/],
    ['0 0 * * 5L-6', 'CRON_SYNTAX', 10, /5L/],
    ['0 0 1 JANUARY *', 'CRON_SYNTAX', 9, /JAN-DEC/],
    ['٣ * * * *', 'CRON_SYNTAX', 0, /0-59/],
    ['@fortnightly', 'CRON_SYNTAX', 0, /@daily/],
    ['@daily @hourly', 'CRON_SYNTAX', 0, /@daily/],
    ['@__proto__', 'CRON_SYNTAX', 0, /@daily/],
    ['@reboot', 'CRON_UNSUPPORTED', 0, /@daily/],
    ['@every 5m', 'CRON_UNSUPPORTED', 0, /@daily/],
    ['0 0 * * L', 'CRON_UNSUPPORTED', 8, /5L/],
    [`${'1,'.repeat(2000)}1 * * * *`, 'CRON_SYNTAX', 2000, /undefined/],
  ])('N7: %j is %s at position %s', (expression, code, position, hint) => {
    const error = refusalOf(() => parseCron(expression))
    expect({ code: error.code, position: error.position }).toEqual({ code, position })
    expect(String(error.allowed)).toMatch(hint)
    expect(error.message).not.toBe('')
  })

  it('is also any value that is not a string', () => {
    // @ts-expect-error a caller without types
    expect(refusalOf(() => parseCron(5)).code).toBe('CRON_SYNTAX')
  })
})

function meaning(cron: CronExpression): Omit<CronExpression, 'source' | 'hasFixedTimes'> {
  const { source: _source, hasFixedTimes: _hasFixedTimes, ...rest } = cron
  return rest
}
