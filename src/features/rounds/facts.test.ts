import { describe, expect, it } from 'vitest'
import { atTen, cycleOf, isCovered, patient, ten, timingOf } from './test/diary.js'
import { day, hour, minute, second, Work } from '../../../test/fixtures/engine-stage.js'
import { defineRound } from './definition.js'
import { define, end } from '../../engine/sync/sync.js'
import { kinds } from '../../../test/fixtures/feature-parts.js'
import { roundCast } from './test/round-cast.js'

describe('the scenarios of the original design', () => {
  it('R1, R2: scenario 1: three services run immediately and in order, and again after an hour', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = 5 * minute
    await stage.process({
      ...patient,
      jobs: diary.jobs('s1', 's2', 's3'),
      parts: [roundCast({ my_scheduler: { every: 3_600_000, services: ['s1', 's2', 's3'] } })],
    })
    await stage.pass(59 * minute)
    expect(diary.lines).toEqual(['s1@0', 's2@5', 's3@10'])
    expect(await timingOf(stage, 's3')).toMatchObject({ lastRunAt: ten, everyMs: hour })
    expect(await cycleOf(stage, 'my_scheduler')).toBeUndefined()
    await stage.pass(30 * minute)
    expect(diary.lines.slice(3)).toEqual(['s1@60', 's2@65', 's3@70'])
    expect(await isCovered(stage, 'my_scheduler')).toBe(true)
  })

  it('R7: scenario 2: after a crash at 10:15, the restart at 10:20 continues with s3 only', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = 5 * minute
    const s3 = new Work()
    const cast = {
      jobs: { ...diary.jobs('s1', 's2'), s3: s3.handler },
      parts: [roundCast({ my_scheduler: { every: '1h', services: ['s1', 's2', 's3'] } })],
    }
    const first = await stage.process(cast)
    await stage.pass(15 * minute)
    first.kill()
    expect(await cycleOf(stage, 'my_scheduler')).toMatchObject({
      queue: [],
      current: { service: 's3' },
      results: [
        { service: 's1', status: 'ok', info: 'success' },
        { service: 's2', status: 'ok', info: 'success' },
      ],
    })
    await stage.pass(5 * minute)
    await stage.process(cast)
    await stage.pass(minute)
    expect(s3.begun.map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(s3.begun[0]?.id).toBe(s3.begun[1]?.id)
    await s3.end(1)
    expect(await cycleOf(stage, 'my_scheduler')).toBeUndefined()
    expect(diary.lines).toEqual(['s1@0', 's2@5'])
    await stage.passTo(ten + hour)
    expect(diary.lines.slice(2)).toEqual(['s1@60'])
    expect(await isCovered(stage, 'my_scheduler')).toBe(true)
  })

  it('R5: scenario 3: the 25th check is at 10:00 on the next day, and both services run', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = minute
    await stage.process({
      ...patient,
      jobs: diary.jobs('hourly_check', 'daily_report'),
      parts: [
        roundCast({
          multi_sched: { every: '1h', services: ['hourly_check', { job: 'daily_report', every: '24h' }] },
        }),
      ],
    })
    await stage.pass(25 * hour)
    const of = (name: string): number[] =>
      diary.begun.filter(({ service }) => service === name).map(({ check }) => (check - ten) / hour)
    expect(of('hourly_check')).toEqual(Array.from({ length: 26 }, (_, index) => index))
    expect(of('daily_report')).toEqual([0, 24])
    const checks = (await stage.ranges('multi_sched')).filter(({ reason }) => reason === 'checked')
    expect(checks[24]).toMatchObject({ firstAt: ten + day, detail: 'due hourly_check, daily_report' })
    expect(checks[1]).toMatchObject({
      detail: 'due hourly_check; skipped daily_report (not_due, due 2026-01-06T10:00:00Z)',
    })
  })
})

describe('a round', () => {
  it('R1: a check that finds nothing due is followed by the next one', async () => {
    const { stage, diary } = await atTen()
    await stage.process({
      ...patient,
      jobs: diary.jobs('daily'),
      parts: [roundCast({ r: { every: '1h', services: [{ job: 'daily', every: '3h' }] } })],
    })
    await stage.pass(6 * hour)
    expect(diary.lines).toEqual(['daily@0', 'daily@180', 'daily@360'])
    expect((await stage.ranges('r')).map(({ reason, firstAt }) => [reason, (firstAt - ten) / hour])).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((index) => ['checked', index]),
    )
  })

  it('R4: a skip is recorded with its reason, and a service that never ran is due', async () => {
    const { stage, diary } = await atTen()
    const rounds = { r: { every: '1h', services: ['a', { job: 'b', every: '2h' }] } }
    const process = await stage.process({ jobs: diary.jobs('a', 'b', 'c'), parts: [roundCast(rounds)] })
    await stage.pass(hour)
    const [, check] = await stage.ranges('r')
    expect(check).toMatchObject({
      reason: 'checked',
      rule: 'round:check',
      detail: 'due a; skipped b (not_due, due 2026-01-05T12:00:00Z)',
    })
    await process.redefine({
      parts: [roundCast({ r: { every: '1h', services: [...rounds.r.services, 'c'] } })],
    })
    await stage.pass(second)
    expect(diary.lines).toEqual(['a@0', 'b@0', 'a@60', `c@${60 + 1 / minute}`])
  })

  it('R5: the interval of a service is measured from its check, however late in the cycle it ran, so it never drifts', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = 25 * minute
    await stage.process({
      jobs: diary.jobs('a', 'b'),
      parts: [roundCast({ r: { every: '1h', services: ['a', 'b'] } })],
    })
    await stage.pass(3 * hour - 1)
    expect(diary.lines).toEqual(['a@0', 'b@25', 'a@60', 'b@85', 'a@120', 'b@145'])
  })

  it('R6: before a service starts, the state names it as current and not as queued; its end writes result, timing and state together', async () => {
    const { stage } = await atTen()
    const [a, b] = [new Work(), new Work()]
    await stage.process({
      jobs: { a: a.handler, b: b.handler },
      parts: [roundCast({ r: { every: '1h', services: ['a', 'b'] } })],
    })
    expect(await cycleOf(stage, 'r')).toEqual({
      checkedAt: ten,
      beganAt: ten,
      queue: ['b'],
      current: { service: 'a', run: a.begun[0]?.id },
      results: [],
      skipped: [],
      resumed: false,
    })
    expect(await timingOf(stage, 'a')).toMatchObject({ lastRunAt: null, inFlight: { round: 'r' } })
    await a.end(0)
    expect(await cycleOf(stage, 'r')).toMatchObject({
      queue: [],
      current: { service: 'b' },
      results: [{ service: 'a', status: 'ok', info: 'success' }],
    })
    expect(await timingOf(stage, 'a')).toMatchObject({ lastRunAt: ten, inFlight: null })
    const { trigger } = await stage.trigger('r')
    expect(trigger.round).toEqual({
      services: [
        { job: 'a', everyMs: hour },
        { job: 'b', everyMs: hour },
      ],
    })
  })

  it('R8: a round with another name does not see that state', async () => {
    const { stage, diary } = await atTen()
    const a = new Work()
    const jobs = { a: a.handler, ...diary.jobs('b') }
    const first = await stage.process({
      jobs,
      parts: [roundCast({ one: { every: '1h', services: ['a', 'b'] } })],
    })
    await stage.pass(minute)
    first.kill()
    await stage.process({ jobs, parts: [roundCast({ two: { every: '1h', services: ['b', 'a'] } })] })
    expect(diary.lines).toEqual(['b@1'])
    expect(await cycleOf(stage, 'one')).toMatchObject({ queue: ['b'], current: { service: 'a' } })
    const [check] = await stage.ranges('two')
    expect(check?.detail).toBe('due b; skipped a (in_flight, in one)')
  })

  it('R9: the state is deleted when the cycle ends, whatever the results, and the next check is on the grid', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = 7 * minute
    diary.failing = new Set(['a', 'b'])
    await stage.process({
      jobs: diary.jobs('a', 'b'),
      parts: [roundCast({ r: { every: '1h', services: ['a', 'b'] } })],
    })
    await stage.pass(14 * minute)
    expect(await cycleOf(stage, 'r')).toBeUndefined()
    expect((await stage.trigger('r')).nextAt).toBe(ten + hour)
    expect((await stage.runs('r')).map(({ job, state }) => [job, state])).toEqual([
      ['a', 'failed'],
      ['b', 'failed'],
    ])
  })

  it('R9: a clean stop keeps the state if services are left, and a start continues with it', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = 5 * minute
    await stage.process({ jobs: diary.jobs('a', 'b', 'c'), triggers: {} })
    const trigger = defineRound('r', { every: '1h', services: ['a', 'b', 'c'] })
    await define(stage.store, { kinds, source: 'api', triggers: [trigger], now: ten })
    await stage.pass(2 * minute)
    await end(stage.store, { kinds, source: 'api', names: ['r'], now: stage.clock.now() })
    await stage.pass(10 * minute)
    expect(diary.lines).toEqual(['a@0'])
    expect(await cycleOf(stage, 'r')).toMatchObject({
      queue: ['b', 'c'],
      current: null,
      results: [{ service: 'a' }],
    })
    await define(stage.store, { kinds, source: 'api', triggers: [trigger], now: stage.clock.now() })
    await stage.pass(20 * minute)
    expect(diary.begun.map(({ service }) => service)).toEqual(['a', 'b', 'c'])
    expect(await cycleOf(stage, 'r')).toBeUndefined()
    expect((await stage.trigger('r')).nextAt).toBe(ten + hour)
    expect(await isCovered(stage, 'r')).toBe(true)
  })

  it('R9: a process that stops cleanly finishes its service and leaves the rest to the next process', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = 2 * second
    const cast = {
      jobs: diary.jobs('a', 'b'),
      parts: [roundCast({ r: { every: '1h', services: ['a', 'b'] } })],
    }
    const first = await stage.process(cast)
    await stage.pass(second)
    const stopped = first.engine.stop({ graceMs: minute })
    await stage.pass(minute)
    await stopped
    expect(diary.begun.map(({ service }) => service)).toEqual(['a'])
    expect(await cycleOf(stage, 'r')).toMatchObject({
      queue: ['b'],
      current: null,
      results: [{ service: 'a' }],
    })
    await stage.process(cast)
    await stage.pass(minute)
    expect(diary.begun.map(({ service }) => service)).toEqual(['a', 'b'])
    expect(await cycleOf(stage, 'r')).toBeUndefined()
  })

  it('R9: a stop during the last service keeps the state until that service ends', async () => {
    const { stage } = await atTen()
    const a = new Work()
    await stage.process({ jobs: { a: a.handler } })
    const trigger = defineRound('r', { every: '1h', services: ['a'] })
    await define(stage.store, { kinds, source: 'api', triggers: [trigger], now: ten })
    await stage.pass(second)
    await end(stage.store, { kinds, source: 'api', names: ['r'], now: stage.clock.now() })
    expect(await cycleOf(stage, 'r')).toMatchObject({ queue: [], current: { service: 'a' } })
    await a.end(0)
    expect(await cycleOf(stage, 'r')).toBeUndefined()
    expect(await timingOf(stage, 'a')).toMatchObject({ lastRunAt: ten })
  })

  it('R11: a failed service is an error in the results, the cycle continues, and the service is due at the next check', async () => {
    const { stage, diary } = await atTen()
    diary.failing = new Set(['a'])
    const b = new Work()
    await stage.process({
      jobs: { ...diary.jobs('a'), b: b.handler },
      parts: [roundCast({ r: { every: '1h', services: [{ job: 'a', every: '24h' }, 'b'] } })],
    })
    expect((await cycleOf(stage, 'r'))?.results).toEqual([
      { service: 'a', status: 'error', info: 'a exit 1' },
    ])
    expect(await timingOf(stage, 'a')).toMatchObject({ lastRunAt: null, inFlight: null })
    await b.end(0)
    await stage.pass(3 * hour)
    expect(diary.lines).toEqual(['a@0', 'a@60'])
    await b.end(1)
    diary.failing.clear()
    await stage.passTo(ten + 5 * hour)
    expect(diary.lines).toEqual(['a@0', 'a@60', 'a@240'])
  })

  it('a check during an open cycle is an overlap that names the current run', async () => {
    const { stage } = await atTen()
    const a = new Work()
    await stage.process({
      jobs: { a: a.handler },
      parts: [roundCast({ r: { every: '1h', services: ['a'] } })],
    })
    await stage.pass(2 * hour + minute)
    const [, ...overlaps] = await stage.ranges('r')
    const blocker = a.begun[0]?.id
    expect(overlaps).toMatchObject([
      { firstAt: ten + hour, reason: 'overlap', rule: 'round:overlap', blocker },
      { firstAt: ten + 2 * hour, reason: 'overlap', rule: 'round:overlap', blocker },
    ])
    await a.end(0)
    await stage.pass(hour)
    expect(a.begun.map(({ dueAt }) => (dueAt.getTime() - ten) / hour)).toEqual([0, 3])
  })

  it('R7: checks that were missed during downtime become one check, after the resumed cycle', async () => {
    const { stage, diary } = await atTen()
    const a = new Work()
    const cast = {
      jobs: { a: a.handler, ...diary.jobs('b') },
      parts: [roundCast({ r: { every: '1h', services: ['a', 'b'] } })],
    }
    const first = await stage.process(cast)
    await stage.pass(minute)
    first.kill()
    await stage.pass(3 * hour + 19 * minute)
    await stage.process(cast)
    await stage.pass(2 * minute)
    expect(a.begun.map(({ attempt, dueAt }) => [attempt, dueAt.getTime()])).toEqual([
      [1, ten],
      [2, ten],
    ])
    await a.end(1)
    await stage.pass(second)
    expect(a.begun[2]?.dueAt.getTime()).toBe(ten + 3 * hour)
    expect(diary.begun.map(({ check }) => check)).toEqual([ten])
    await a.end(2)
    expect(diary.begun.map(({ check }) => check)).toEqual([ten, ten + 3 * hour])
    expect((await stage.ranges('r')).map(({ reason, firstAt, lastAt }) => [reason, firstAt, lastAt])).toEqual(
      [
        ['checked', ten, ten],
        ['collapsed', ten + hour, ten + 2 * hour],
        ['checked', ten + 3 * hour, ten + 3 * hour],
      ],
    )
    expect(await isCovered(stage, 'r')).toBe(true)
  })

  it('a cycle is marked as resumed by another process or after a lost run', async () => {
    const { stage, diary } = await atTen()
    const [a, c] = [new Work(), new Work()]
    const cast = {
      jobs: { a: a.handler, ...diary.jobs('b'), c: c.handler },
      parts: [roundCast({ r: { every: '1h', services: ['a', 'b', 'c'] } })],
    }
    const first = await stage.process(cast)
    await stage.pass(second)
    first.kill()
    await stage.process(cast)
    await stage.pass(minute)
    expect((await cycleOf(stage, 'r'))?.resumed).toBe(false)
    await a.end(1)
    expect(await cycleOf(stage, 'r')).toMatchObject({ resumed: true, current: { service: 'c' } })
    await c.end(0)
    await stage.passTo(ten + hour)
    expect((await cycleOf(stage, 'r'))?.resumed).toBe(false)
  })
})

describe('R10: a service of two rounds', () => {
  it('runs once if both check in the same millisecond, and the other round records why not', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = minute
    await stage.process({
      jobs: diary.jobs('shared', 'own'),
      parts: [
        roundCast({
          one: { every: '1h', services: ['shared'] },
          two: { every: '1h', services: ['shared', 'own'] },
        }),
      ],
    })
    await stage.pass(2 * hour)
    expect(diary.lines.filter((line) => line.startsWith('shared'))).toEqual([
      'shared@0',
      'shared@60',
      'shared@120',
    ])
    expect(diary.lines.filter((line) => line.startsWith('own'))).toHaveLength(3)
    const [skip] = await stage.ranges('two')
    expect(skip?.detail).toBe('due own; skipped shared (in_flight, in one)')
  })

  it('does not run a second time for the same check after it failed in the other round', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = minute
    diary.failing = new Set(['shared'])
    await stage.process({
      jobs: diary.jobs('shared', 'own'),
      parts: [
        roundCast({
          one: { every: '1h', services: ['shared'] },
          two: { every: '1h', services: ['own', 'shared'] },
        }),
      ],
    })
    await stage.pass(90 * minute)
    expect(diary.lines.filter((line) => line.startsWith('shared'))).toEqual(['shared@0', 'shared@60'])
    const details = (await stage.ranges('two')).map(({ detail }) => detail)
    expect(details).toContain('skipped shared (tried)')
  })
})
