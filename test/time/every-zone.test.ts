import { describe, expect, it } from 'vitest'
import { cronSchedule } from '../../src/time/cron/schedule.js'
import type { DstPolicy } from '../../src/time/cron/dst.js'
import { changesBetween } from './changes.js'
import { fieldsOf, localTimeOf, occurrencesIn, type Step, walk } from './oracle.js'
import { randomFrom, seed } from './seed.js'

const HOUR = 3_600_000
const policies: readonly DstPolicy[] = ['vixie', 'skip', 'real-time']
const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC']

/** Unusual clock changes that every run tests. */
const strange: readonly (readonly [zone: string, at: string])[] = [
  ['Africa/Monrovia', '1972-01-07T00:44:30Z'],
  ['Africa/Casablanca', '2026-02-15T02:00:00Z'],
  ['Africa/Casablanca', '2026-03-22T02:00:00Z'],
  ['America/Santiago', '2025-09-07T04:00:00Z'],
  ['America/Santiago', '2026-04-05T03:00:00Z'],
  ['Asia/Beirut', '2026-03-28T22:00:00Z'],
  ['Asia/Beirut', '2026-10-24T21:00:00Z'],
  ['America/Asuncion', '2023-10-01T04:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00:00Z'],
  ['Antarctica/Casey', '2018-10-06T20:00:00Z'],
  ['Antarctica/Casey', '2019-03-16T16:00:00Z'],
  ['Antarctica/Vostok', '1994-01-31T17:00:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Pacific/Kwajalein', '1993-08-21T12:00:00Z'],
  ['Asia/Gaza', '2040-10-20T00:00:00Z'],
  ['Asia/Kathmandu', '1985-12-31T18:30:00Z'],
]

describe(`every zone (seed ${seed})`, () => {
  it('fires around clock changes exactly where the oracle says', () => {
    const random = randomFrom(seed + 1)
    for (const zone of zones) {
      const year = 1973 + Math.floor(random() * 127)
      const changes = changesBetween(zone, Date.UTC(year), Date.UTC(year + 1))
      for (const at of changes.slice(0, 3)) compareAround(zone, at, random)
    }
  })

  it.each(strange)('fires in %s around %s exactly where the oracle says', (zone, text) => {
    const at = Date.parse(text)
    expect(changesBetween(zone, at - HOUR, at + HOUR)).toEqual([at])
    compareAround(zone, at, randomFrom(seed + 2))
  })
})

function compareAround(zone: string, at: number, random: () => number): void {
  const jump = localTimeOf(zone, at) - localTimeOf(zone, at - 1000) - 1000
  const stepMs = at % 60_000 === 0 && jump % 60_000 === 0 ? 60_000 : 1000
  const reach = Math.min(Math.abs(jump), 8 * HOUR) + 1.5 * HOUR
  const from = Math.floor((at - reach) / 60_000) * 60_000
  const to = from + 2 * reach
  const steps = walk(zone, { from, to, stepMs })
  for (const expression of expressionsNear(localTimeOf(zone, at - 1000) + 1000, jump, random)) {
    for (const policy of policies) compare({ zone, expression, policy, steps, stepMs })
  }
}

/** Expressions that are affected if the local time `edge` is skipped or repeated. */
function expressionsNear(edge: number, jump: number, random: () => number): string[] {
  const inside = fieldsOf(
    jump > 0 ? edge + Math.floor(random() * jump) : edge + Math.floor(random() * -jump) + jump,
  )
  const { hour, minute, day, month, weekday } = inside
  return [
    `${minute} ${hour} * * *`,
    `${minute} ${hour} ${day} ${month} *`,
    `${minute},${(minute + 30) % 60} ${hour},${(hour + 1) % 24} * * ${weekday}`,
    `0,30 ${hour} * * *`,
    `0 0-23 * * *`,
    `*/15 * * * *`,
    `*/20 ${hour} * * *`,
    `${minute} * * * *`,
    `0 0 * * *`,
    `59 23 L * ${weekday}#1`,
    `0-59/7 0-23/2 * * *`,
  ]
}

interface Case {
  zone: string
  expression: string
  policy: DstPolicy
  steps: readonly Step[]
  stepMs: number
}

function compare({ zone, expression, policy, steps, stepMs }: Case): void {
  const expected = occurrencesIn(expression, steps, policy, stepMs)
  const from = (steps[0]?.at ?? 0) - 1
  const to = (steps.at(-1)?.at ?? 0) + 1
  const schedule = cronSchedule(expression, { timezone: zone, dst: policy })
  const forward: number[] = []
  for (let at = schedule.next(from); at !== undefined && at < to; at = schedule.next(at)) forward.push(at)
  const backward: number[] = []
  for (let at = schedule.previous(to); at !== undefined && at > from; at = schedule.previous(at))
    backward.unshift(at)
  const label = `${expression} ${policy} in ${zone}, seed ${seed}`
  expect([label, forward.map(iso)]).toEqual([label, expected.map(iso)])
  expect([label, backward.map(iso)]).toEqual([label, expected.map(iso)])
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
