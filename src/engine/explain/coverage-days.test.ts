import { describe, expect, it } from 'vitest'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { aTrigger, minute, Stage, t0 } from '../../store/conformance/stage.js'
import { timedKinds } from '../timed/kinds.js'
import { kindsOf } from '../trigger-kind.js'
import { coverageOf } from './coverage.js'
import { coverageDays, type CoveredDay } from './coverage-days.js'

const kinds = kindsOf(timedKinds.values())
const hour = 60 * minute
const day = 24 * hour
const hourly = { kind: 'interval', everyMs: hour, anchorAt: t0 } as const
const skip = { mode: 'skip', maxAgeMs: undefined, maxRuns: 1, graceMs: 0 } as const

async function stage(): Promise<Stage> {
  const store = openMemoryStore()
  const made = new Stage({ store, reopen: async () => store, dispose: () => store.close() })
  await made.ready()
  return made
}

async function days(made: Stage, name: string, count: number): Promise<readonly CoveredDay[]> {
  const triggers = [await made.stored(name)]
  const window = { fromAt: t0, untilAt: t0 + count * day, now: t0 + count * day }
  return (await coverageDays(made.store, { kinds, triggers, ...window })).get(name) ?? []
}

describe('the coverage of days', () => {
  it('adds up to the coverage of the whole period', async () => {
    const made = await stage()
    await made.trigger(aTrigger('t', { schedule: hourly, catchUp: skip }), { nextAt: t0 + hour })
    for (let i = 1; i <= 30; i += 1) await made.tick('t', t0 + i * hour)
    // Missed: hours 31 to 50.
    await made.tick('t', t0 + 50 * hour + 1)
    const found = await days(made, 't', 4)
    expect(found.map(({ date }) => date)).toEqual(['2026-01-05', '2026-01-06', '2026-01-07', '2026-01-08'])
    expect(found.map(({ coverage }) => coverage)).toEqual([
      { due: 23, run: 23, explained: {}, unexplained: 0, unexpected: 0 },
      { due: 24, run: 7, explained: { missed: 17 }, unexplained: 0, unexpected: 0 },
      { due: 3, run: 0, explained: { missed: 3 }, unexplained: 0, unexpected: 0 },
      { due: 0, run: 0, explained: {}, unexplained: 0, unexpected: 0 },
    ])
    const whole = await coverageOf(made.store, await made.stored('t'), { kinds })
    expect([whole.due, whole.run, whole.unexplainedCount]).toEqual([50, 30, 0])
  })

  it('keeps complete days when their runs are pruned, and counts the open day again', async () => {
    const made = await stage()
    await made.trigger(aTrigger('t', { schedule: hourly }), { nextAt: t0 + hour })
    await made.tick('t', t0 + 25 * hour)
    const before = await days(made, 't', 2)
    const kept = await made.store.stateEntries({ kind: 'coverage', limit: 9 })
    expect(kept.map(({ name, item }) => [name, item])).toEqual([['2026-01-05', 't']])
    for (const run of await made.store.runs({ limit: 100 }))
      await made.store.cancel({ run: run.id, now: t0 + 26 * hour, reason: '' })
    await made.store.prune({ before: t0 + 30 * hour, limit: 100, now: t0 + 30 * hour })
    const after = await days(made, 't', 2)
    expect(after[0]).toEqual(before[0])
    expect(after[1]?.coverage).toMatchObject({ due: 2, run: 0, explained: { pruned: 2 } })
  })

  it('does not store a day with an unexplained instant', async () => {
    const made = await stage()
    await made.trigger(aTrigger('t', { schedule: hourly }), { nextAt: t0 + hour })
    await made.tick('t', t0 + 48 * hour, { runs: [], ranges: [] })
    const [first] = await days(made, 't', 2)
    expect(first?.coverage).toMatchObject({ due: 23, unexplained: 23 })
    expect(await made.store.stateEntries({ kind: 'coverage', limit: 9 })).toEqual([])
  })

  it('leaves days beyond its limit to the next call', async () => {
    const made = await stage()
    const everySecond = { kind: 'interval', everyMs: 1000, anchorAt: t0 } as const
    await made.trigger(aTrigger('t', { schedule: everySecond, catchUp: skip }), { nextAt: t0 + 1000 })
    await made.tick('t', t0 + 4 * day)
    const isCounted = async (): Promise<boolean[]> =>
      (await days(made, 't', 4)).map(({ coverage }) => coverage !== undefined)
    expect(await isCounted()).toEqual([true, true, true, false])
    expect(await isCounted()).toEqual([true, true, true, true])
  })

  it('counts the runs and ranges of a chain', async () => {
    const made = await stage()
    await made.trigger(aTrigger('chain', { schedule: { kind: 'after-finish', everyMs: hour } }), {
      nextAt: t0 + hour,
    })
    await made.tick('chain', t0 + hour)
    const [first] = await days(made, 'chain', 1)
    expect(first?.coverage).toEqual({ due: 1, run: 1, explained: {}, unexplained: 0, unexpected: 0 })
  })
})
