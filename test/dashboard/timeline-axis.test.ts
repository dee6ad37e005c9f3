import { describe, expect, test } from 'vitest'
import { ticksOf } from '../../dashboard/src/pages/timeline/axis/ticks.js'
import {
  aroundNow,
  lengthOf,
  lengthText,
  panned,
  ranges,
  readView,
  usualLength,
  zoomed,
} from '../../dashboard/src/pages/timeline/axis/view.js'
import { makeZoneClock } from '../../dashboard/src/pages/timeline/axis/zone-clock.js'
import { tilesOf } from '../../dashboard/src/pages/timeline/tiles.js'

const at = (text: string): number => Date.parse(text)
const hour = 3_600_000
const usualMs = 24 * hour

function axis(zone: string, from: string, until: string, widthPx = 1000) {
  const { major, minor } = ticksOf(
    { fromMs: at(from), untilMs: at(until) },
    { clock: makeZoneClock(zone), widthPx },
  )
  return { major: major.map(({ label }) => label), minor, labels: minor.map(({ label }) => label) }
}

describe('the period that is shown', () => {
  const view = { fromMs: at('2026-11-16T00:00:00Z'), untilMs: at('2026-11-17T00:00:00Z') }

  test('zooming keeps the instant under the pointer where it is', () => {
    const closer = zoomed(view, 0.5, 0.25)
    expect(lengthOf(closer)).toBe(12 * hour)
    expect(closer.fromMs + lengthOf(closer) * 0.25).toBe(view.fromMs + lengthOf(view) * 0.25)
  })

  test('it is never shorter than a minute nor longer than 400 days', () => {
    let [near, far] = [view, view]
    for (let count = 0; count < 40; count += 1) [near, far] = [zoomed(near, 0.5), zoomed(far, 2)]
    expect([lengthOf(near), lengthOf(far)]).toEqual([60_000, 400 * 24 * hour])
  })

  test('it stays between 1970 and 2199, with its length', () => {
    const early = panned({ fromMs: 0, untilMs: hour }, -3)
    const late = panned({ fromMs: at('2198-12-31T00:00:00Z'), untilMs: at('2199-01-01T00:00:00Z') }, 5)
    expect([early, late.untilMs, lengthOf(late)]).toEqual([
      { fromMs: 0, untilMs: hour },
      at('2199-01-01T00:00:00Z'),
      24 * hour,
    ])
  })

  test('an address names it, and one without a beginning follows the clock', () => {
    const nowMs = at('2026-11-17T12:00:00Z')
    expect(readView({ range: '6h', from: null }, { nowMs, usualMs })).toEqual({
      view: aroundNow(6 * hour, nowMs),
      isFollowing: true,
    })
    expect(readView({ range: '5400s', from: '2026-11-16T00:00:00Z' }, { nowMs, usualMs })).toEqual({
      view: { fromMs: at('2026-11-16T00:00:00Z'), untilMs: at('2026-11-16T01:30:00Z') },
      isFollowing: false,
    })
    expect(Object.values(ranges).map(lengthText)).toEqual(Object.keys(ranges))
  })

  test.each(['', 'x', '-5s', '99999999999s', '1e9s', '__proto__', null])(
    'a broken range in an address (%s) shows the usual length',
    (range) => {
      const { view: shown } = readView(
        { range, from: 'never' },
        { nowMs: at('2026-11-17T12:00:00Z'), usualMs },
      )
      expect(lengthOf(shown)).toBe(24 * hour)
    },
  )
})

test.each([
  ['a minute', 60_000, '15m'],
  ['half an hour', hour / 2, '1h'],
  ['four hours', 4 * hour, '6h'],
  ['a day', 24 * hour, '24h'],
  ['for ever, as nothing does', -Infinity, '15m'],
] as const)('what has been there for %s is seen at first', (_, ageMs, name) => {
  expect(usualLength(ageMs)).toBe(ranges[name])
})

describe('the ticks of the axis', () => {
  test('hours are below their dates', () => {
    const { major, labels } = axis('Europe/Berlin', '2026-11-15T21:00:00Z', '2026-11-16T07:00:00Z')
    expect(major).toEqual(['Sun 15 Nov', 'Mon 16 Nov'])
    expect(labels).toEqual([
      '22:00',
      '23:00',
      '00:00',
      '01:00',
      '02:00',
      '03:00',
      '04:00',
      '05:00',
      '06:00',
      '07:00',
      '08:00',
    ])
  })

  test('an hour that clocks skip is missing', () => {
    const { labels } = axis('Europe/Berlin', '2027-03-28T00:00:00Z', '2027-03-28T04:00:00Z', 250)
    expect(labels).toEqual(['01:00', '03:00', '04:00', '05:00', '06:00'])
  })

  test('an hour that clocks repeat is shown twice, an hour apart', () => {
    const { labels, minor } = axis('Europe/Berlin', '2026-10-24T23:00:00Z', '2026-10-25T03:00:00Z', 250)
    expect(labels).toEqual(['01:00', '02:00', '02:00', '03:00', '04:00'])
    expect(minor.map(({ atMs }) => atMs)).toEqual(
      [0, 1, 2, 3, 4].map((count) => at('2026-10-24T23:00:00Z') + count * hour),
    )
  })

  test('steps of several hours keep to the clock on the day of a change', () => {
    const { labels, minor } = axis('America/New_York', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z', 500)
    expect(labels).toEqual(['00:00', '03:00', '06:00', '09:00', '12:00', '15:00', '18:00', '21:00', '00:00'])
    expect(((minor[1]?.atMs ?? 0) - (minor[0]?.atMs ?? 0)) / hour).toBe(2)
  })

  test.each([
    ['Australia/Lord_Howe', '2026-10-03T13:00:00Z', '2026-10-04T13:00:00Z'],
    ['Asia/Kathmandu', '2026-11-15T18:15:00Z', '2026-11-16T18:15:00Z'],
    ['Africa/Cairo', '2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z'],
  ])('every label is the clock of %s at its instant', (zone, from, until) => {
    const format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
    const { minor } = axis(zone, from, until, 2000)
    expect(minor.length).toBeGreaterThan(20)
    expect(minor.map(({ label }) => label)).toEqual(minor.map(({ atMs }) => format.format(atMs)))
  })

  test('a date without midnight begins when its first hour begins', () => {
    const { minor } = ticksOf(
      { fromMs: at('2026-04-20T00:00:00Z'), untilMs: at('2026-04-28T00:00:00Z') },
      { clock: makeZoneClock('Africa/Cairo'), widthPx: 800 },
    )
    // On 24 April 2026 clocks in Cairo jump from 00:00 to 01:00.
    expect(minor.find(({ label }) => label === '24')?.atMs).toBe(at('2026-04-23T22:00:00Z'))
  })

  test('a month has days below months, a year has months below years', () => {
    const month = axis('UTC', '2026-10-20T00:00:00Z', '2026-11-19T00:00:00Z', 900)
    expect(month.major).toEqual(['October 2026', 'November 2026'])
    expect(month.labels).toContain('1')
    const year = axis('UTC', '2026-01-15T00:00:00Z', '2027-01-15T00:00:00Z', 900)
    expect(year.major).toEqual(['2026', '2027'])
    expect(year.labels).toEqual([
      'Feb',
      'Mar',
      'Apr',
      'May',
      'Jun',
      'Jul',
      'Aug',
      'Sep',
      'Oct',
      'Nov',
      'Dec',
      'Jan',
    ])
  })

  test.each(Object.keys(ranges))('labels of %s never touch each other, at any width', (range) => {
    for (const widthPx of [200, 360, 900, 1920]) {
      const { view } = readView({ range, from: '2026-03-20T05:17:00Z' }, { nowMs: 0, usualMs })
      const { minor } = ticksOf(view, { clock: makeZoneClock('Europe/Berlin'), widthPx })
      const xs = minor.map(({ atMs }) => ((atMs - view.fromMs) / lengthOf(view)) * widthPx)
      const gaps = xs.slice(1).map((x, index) => x - (xs[index] ?? 0))
      // A change of the clocks, or a short month, takes some of the room.
      expect(Math.min(...gaps)).toBeGreaterThan(30)
      expect(minor.length).toBeGreaterThan(0)
    }
  })
})

describe('what is read', () => {
  test('the same pieces cover a period wherever it begins inside them', () => {
    const view = (from: string) => ({ fromMs: at(from), untilMs: at(from) + 6 * hour })
    expect(tilesOf(view('2026-11-16T03:20:00Z'))).toEqual(tilesOf(view('2026-11-16T03:40:00Z')))
  })

  test.each(Object.values(ranges))('a stretch of %d ms is covered by pieces without gaps', (lengthMs) => {
    const fromMs = at('2026-03-29T00:59:59Z')
    const tiles = tilesOf({ fromMs, untilMs: fromMs + lengthMs })
    expect(tiles[0]?.fromMs).toBeLessThanOrEqual(fromMs)
    expect(tiles.at(-1)?.untilMs).toBeGreaterThanOrEqual(fromMs + lengthMs)
    for (const [index, tile] of tiles.entries())
      expect(tiles[index + 1]?.fromMs ?? tile.untilMs).toBe(tile.untilMs)
    expect(tiles.length).toBeLessThanOrEqual(16)
  })
})
