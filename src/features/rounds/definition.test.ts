import { describe, expect, it } from 'vitest'
import { defineRound } from './definition.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { scheduleOf } from '../../kernel/trigger/schedule.js'

const hour = 3_600_000

describe('defineRound', () => {
  it('returns a trigger: an immediate interval with services', () => {
    const services = ['a', { job: 'b', every: '24h' }]
    expect(defineRound('r', { every: '1h', services, priority: 3 })).toMatchObject({
      name: 'r',
      job: 'a',
      schedule: { kind: 'interval', everyMs: hour, immediate: true },
      priority: 3,
      enabled: true,
      round: {
        services: [
          { job: 'a', everyMs: hour },
          { job: 'b', everyMs: 24 * hour },
        ],
      },
    })
  })

  it('R1: accepts milliseconds and durations', () => {
    expect(defineRound('r', { every: 3_600_000, services: ['a'] }).schedule).toMatchObject({ everyMs: hour })
  })

  it('treats a check as late when the next one would be due', () => {
    expect(defineRound('r', { every: '5s', services: ['a'] }).catchUp.graceMs).toBe(5000)
    expect(defineRound('r', { every: '1h', services: ['a'] }).catchUp.graceMs).toBe(60_000)
  })

  it('returns a frozen object', () => {
    const { round } = defineRound('r', { every: '1h', services: ['a'] })
    expect(Object.isFrozen(round?.services)).toBe(true)
  })

  it.each<[unknown, string[]]>([
    [{ services: ['a'] }, ['every: the interval is missing']],
    [{ every: '1h' }, ['services: it is missing']],
    [{ every: '1h', services: 'a' }, ['services: a list of services was expected, not "a"']],
    [{ every: '1h', services: [] }, ['services: the list is empty']],
    [{ every: '1h', services: ['a', 'b', 'a', 'c', 'c'] }, ['services: more than once: a, c']],
    [
      { every: '1h', services: [{ job: 'a', every: '1ms' }, 7] },
      ['services[0].every: "1ms" is too short', 'services[1]: 7 is not a name'],
    ],
    [{ every: 'often', services: ['a', '-'] }, ['every: "often"', 'services[1]: "-" is not a name']],
    [{ every: '1h', services: ['a'], job: 'a' }, ['job: unknown option']],
    [{ every: '1h', services: [{ every: '2h' }] }, ['services[0].job: nothing is not a name']],
    [{ every: '1h', services: ['a'], enabled: 'no' }, ['enabled: "no" is neither true nor false']],
    [{ every: '1h', services: ['a'], timezone: 'Europe/Berlin' }, ['timezone: it contradicts `every`']],
    [
      { every: '1h', services: ['a'], calendar: { onExcluded: 'next-day' } },
      ['calendar: it names no calendar', 'calendar.onExcluded: next-day cannot be used with a round'],
    ],
    [
      {
        every: '1h',
        services: ['a'],
        blackouts: [{ from: '2026-01-01', to: '2026-01-02', cron: '0 0 * * *' }],
      },
      ['blackouts[0]: from and cron cannot be combined'],
    ],
  ])('refuses %j, all of it at once', (input, expected) => {
    const told = faultsOf(() => defineRound('r', input as Parameters<typeof defineRound>[1]))
    expect(told).toHaveLength(expected.length)
    for (const [index, text] of expected.entries()) expect(told[index]).toContain(text)
  })

  it('refuses too many services', () => {
    const services = Array.from({ length: 101 }, (_, index) => `s${index}`)
    expect(() => defineRound('r', { every: '1h', services })).toThrow('101 services are too many')
  })
})

describe('an additional due instant of a grid', () => {
  const spec = { kind: 'interval', everyMs: 10, anchorAt: 100, immediate: true } as const

  it('is between two instants of the grid, or coincides with one', () => {
    const instants = (alsoAt: number): number[] => {
      const schedule = scheduleOf({ ...spec, alsoAt })
      const forth: number[] = []
      for (let at = schedule.next(99); at !== undefined && at <= 130; at = schedule.next(at)) forth.push(at)
      const back: number[] = []
      for (let at = schedule.previous(131); at !== undefined; at = schedule.previous(at)) back.unshift(at)
      expect(back).toEqual(forth)
      return forth
    }
    expect(instants(115)).toEqual([100, 110, 115, 120, 130])
    expect(instants(120)).toEqual([100, 110, 120, 130])
  })
})

function faultsOf(define: () => unknown): string[] {
  try {
    define()
    return []
  } catch (error) {
    if (!(error instanceof RotaError)) throw error
    return (error.faults ?? []).map(({ path, message }) => `${path}: ${message}`)
  }
}
