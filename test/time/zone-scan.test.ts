import { describe, expect, it } from 'vitest'
import { changesBetween } from './changes.js'
import { transitionsBetween } from './oracle.js'
import { randomFrom, seed } from './seed.js'

const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC']

/** The zones whose offset changes are closest together, by a scan of all zones in steps of an hour. */
const restless = [
  'America/Noronha',
  'America/Argentina/Tucuman',
  'Asia/Gaza',
  'Africa/El_Aaiun',
  'Africa/Cairo',
]
const SHORTEST_STRETCH_MS = (6 * 24 + 23) * 3_600_000

describe(`changes of offset (seed ${seed})`, () => {
  it('are those of a scan every twelve hours, in two years of every zone', () => {
    const random = randomFrom(seed)
    for (const zone of zones) {
      for (const first of [1970, 2035]) {
        const year = first + Math.floor(random() * 66)
        const [from, to] = [Date.UTC(year), Date.UTC(year + 1)]
        expect([zone, year, changesBetween(zone, from, to)]).toEqual([
          zone,
          year,
          transitionsBetween(zone, from, to),
        ])
      }
    }
  })

  it.each(restless)(
    'of %s lie far enough apart for the engine to see all of them from 1970 to 2100',
    (zone) => {
      const [from, to] = [Date.UTC(1970), Date.UTC(2101)]
      const found = changesBetween(zone, from, to)
      expect(found).toEqual(transitionsBetween(zone, from, to))
      const stretches = found.slice(1).map((at, index) => at - (found[index] ?? 0))
      expect(Math.min(...stretches)).toBeGreaterThanOrEqual(SHORTEST_STRETCH_MS)
    },
  )
})
