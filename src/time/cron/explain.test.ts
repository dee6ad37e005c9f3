import { describe, expect, it } from 'vitest'
import { parseInstant } from '../instant.js'
import type { DstPolicy } from './dst.js'
import { clockChangeNotes, explainOccurrence } from './explain.js'
import { cronSchedule } from './schedule.js'

const after = parseInstant('2026-01-01T00:00:00Z')
const until = parseInstant('2026-12-31T00:00:00Z')
const spring = parseInstant('2026-03-29T01:00:00Z')
const autumn = parseInstant('2026-10-25T01:00:00Z')

describe('what a year of clock changes does in Berlin', () => {
  it.each<[expression: string, dst: DstPolicy, notes: string[]]>([
    ['30 2 * * *', 'vixie', ['moved by gap 02:30-02:30', 'dropped by overlap 02:30-02:30']],
    ['0,30 2 * * *', 'skip', ['dropped by gap 02:00-02:30', 'dropped by overlap 02:00-02:30']],
    ['30 2 * * *', 'real-time', ['dropped by gap 02:30-02:30', 'added by overlap 02:30-02:30']],
    ['*/15 2 * * *', 'vixie', ['dropped by gap 02:00-02:45', 'added by overlap 02:00-02:45']],
    ['0 9 * * *', 'vixie', []],
  ])('%s under %s', (expression, dst, expected) => {
    const schedule = cronSchedule(expression, { timezone: 'Europe/Berlin', dst })
    const notes = clockChangeNotes(schedule, { after, until })
    const shown = notes.map(
      ({ kind, cause, firstLocal, lastLocal }) =>
        `${kind} by ${cause} ${firstLocal.slice(11, 16)}-${lastLocal.slice(11, 16)}`,
    )
    expect(shown).toEqual(expected)
  })

  it('includes a change at the end of the window and excludes one at its start', () => {
    const schedule = cronSchedule('30 2 * * *', { timezone: 'Europe/Berlin' })
    expect(
      clockChangeNotes(schedule, { after: spring - 1, until: spring }).map((note) => note.changeAt),
    ).toEqual([spring])
    expect(clockChangeNotes(schedule, { after: spring, until: autumn - 1 })).toEqual([])
  })
})

describe('an occurrence', () => {
  it('is explained as moved, with the original local times', () => {
    const schedule = cronSchedule('0,30 2,4 * * *', { timezone: 'Europe/Berlin' })
    const at = schedule.next(spring - 1) ?? 0
    expect(explainOccurrence(schedule, at)).toEqual({
      kind: 'moved',
      cause: 'gap',
      changeAt: spring,
      firstLocal: '2026-03-29T02:00:00',
      lastLocal: '2026-03-29T02:30:00',
    })
    expect(explainOccurrence(schedule, schedule.next(at) ?? 0)).toBeUndefined()
  })

  it('is explained as added by the second pass', () => {
    const schedule = cronSchedule('30 * * * *', { timezone: 'Europe/Berlin' })
    const first = schedule.next(autumn - 3_600_000) ?? 0
    const second = schedule.next(first) ?? 0
    const third = schedule.next(second) ?? 0
    expect([first, second, third].map((at) => explainOccurrence(schedule, at)?.kind)).toEqual([
      undefined,
      'added',
      undefined,
    ])
  })

  it('is not explained if it is outside the calendar', () => {
    const schedule = cronSchedule('30 * * * *', { timezone: 'Europe/Berlin' })
    expect(explainOccurrence(schedule, -1)).toBeUndefined()
    expect(explainOccurrence(schedule, Number.NaN)).toBeUndefined()
  })
})
