import { describe, expect, it } from 'vitest'
import { atTen, cycleOf, isCovered, ten } from './test/diary.js'
import { hour, minute, second, settle, Work } from '../../../test/fixtures/engine-stage.js'
import { defineJob } from '../../kernel/job/define-job.js'
import { defineRound } from './definition.js'
import { sync } from '../../engine/sync/sync.js'
import { kinds } from '../../../test/fixtures/feature-parts.js'
import { roundCast } from './test/round-cast.js'

describe('changing a round', () => {
  it('with a new list, the current service finishes, the rest is dropped, and the list is checked immediately', async () => {
    const { stage, diary } = await atTen()
    const a = new Work()
    const jobs = { a: a.handler, ...diary.jobs('b', 'c') }
    const process = await stage.process({
      jobs,
      parts: [roundCast({ r: { every: '1h', services: ['a', 'b'] } })],
    })
    await stage.pass(20 * minute)
    await process.redefine({ parts: [roundCast({ r: { every: '1h', services: ['c', 'a'] } })] })
    await stage.pass(minute)
    expect(await cycleOf(stage, 'r')).toMatchObject({ queue: [], current: { service: 'a' } })
    expect(diary.begun).toEqual([])
    await a.end(0)
    expect(diary.begun).toEqual([{ service: 'c', at: ten + 21 * minute, check: ten }])
    expect(a.begun).toHaveLength(1)
    await stage.passTo(ten + hour)
    expect(diary.lines).toEqual(['c@21', 'c@60'])
    expect(await isCovered(stage, 'r')).toBe(true)
  })

  it('with a new interval, a new grid begins with an immediate check', async () => {
    const { stage, diary } = await atTen()
    const jobs = diary.jobs('a')
    const process = await stage.process({ jobs, parts: [roundCast({ r: { every: '1h', services: ['a'] } })] })
    await stage.pass(20 * minute)
    await process.redefine({ parts: [roundCast({ r: { every: '15m', services: ['a'] } })] })
    await stage.pass(31 * minute)
    const from = ten + 20 * minute + 1
    expect(diary.begun.map(({ check }) => check)).toEqual([ten, from, from + 15 * minute, from + 30 * minute])
    expect(await isCovered(stage, 'r')).toBe(true)
  })

  it('with a new interval during a cycle, the check waits for the current service', async () => {
    const { stage } = await atTen()
    const a = new Work()
    const jobs = { a: a.handler }
    const process = await stage.process({ jobs, parts: [roundCast({ r: { every: '1h', services: ['a'] } })] })
    await stage.pass(20 * minute)
    await process.redefine({ parts: [roundCast({ r: { every: '5m', services: ['a'] } })] })
    await stage.pass(minute)
    expect(a.begun).toHaveLength(1)
    await a.end(0)
    expect(a.begun.map(({ dueAt }) => dueAt.getTime())).toEqual([ten, ten + 20 * minute + 1])
  })

  it('a restart with the same definitions changes nothing', async () => {
    const { stage, diary } = await atTen()
    const cast = { jobs: diary.jobs('a'), parts: [roundCast({ r: { every: '1h', services: ['a'] } })] }
    const first = await stage.process(cast)
    await stage.pass(20 * minute)
    first.kill()
    const again = await stage.process(cast)
    expect(again.report).toMatchObject({ unchanged: 1, changed: [] })
    await stage.pass(40 * minute)
    expect(diary.lines).toEqual(['a@0', 'a@60'])
  })

  it('two rounds with different intervals for one service are refused, and both are named', async () => {
    const { stage, diary } = await atTen()
    const jobs = ['a', 'b'].map((name) => defineJob(name, { handler: () => undefined }))
    const triggers = [
      defineRound('one', { every: '1h', services: ['a', 'b'] }),
      defineRound('two', {
        every: '1h',
        services: [
          { job: 'a', every: '2h' },
          { job: 'b', every: '3h' },
        ],
      }),
    ]
    const source = { name: 'code:test', jobs, queues: [], triggers }
    await expect(sync(stage.store, source, { kinds, now: ten })).rejects.toThrow(
      'rounds differ about a service: a every 1h in one, every 2h in two; b every 1h in one, every 3h in two',
    )
    expect(diary.begun).toEqual([])
    await sync(stage.store, { ...source, triggers: triggers.slice(0, 1) }, { kinds, now: ten })
    const other = { ...source, name: 'code:other', jobs: [], triggers: triggers.slice(1) }
    await expect(sync(stage.store, other, { kinds, now: ten })).rejects.toThrow(
      'a every 2h in two, every 1h in one',
    )
  })
})

describe('holding a round', () => {
  it('a paused round neither checks nor starts the next service; the current one finishes', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = 5 * minute
    await stage.process({
      jobs: diary.jobs('a', 'b'),
      parts: [roundCast({ r: { every: '1h', services: ['a', 'b'] } })],
    })
    const hold = { target: 'trigger:r', actor: 'me', note: '' } as const
    await stage.pass(minute)
    await stage.store.hold({ ...hold, now: stage.clock.now() })
    await stage.pass(3 * hour)
    expect(diary.lines).toEqual(['a@0'])
    expect(await cycleOf(stage, 'r')).toMatchObject({ current: null, queue: ['b'] })
    await stage.store.release({ target: 'trigger:r', now: stage.clock.now(), catchUp: false })
    await settle()
    await stage.pass(second)
    expect(diary.lines).toEqual(['a@0', 'b@181'])
    expect((await stage.ranges('r')).map(({ reason }) => reason)).toEqual(['checked', 'paused'])
    await stage.passTo(ten + 4 * hour)
    expect(diary.lines.slice(2)).toEqual(['a@240'])
    expect(await isCovered(stage, 'r')).toBe(true)
  })

  it('a round continues when its pause expires', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = 5 * minute
    await stage.process({
      jobs: diary.jobs('a', 'b'),
      parts: [roundCast({ r: { every: '1h', services: ['a', 'b'] } })],
    })
    await stage.pass(minute)
    const untilAt = ten + 30 * minute
    await stage.store.hold({ target: 'trigger:r', actor: 'me', note: '', now: stage.clock.now(), untilAt })
    await stage.pass(50 * minute)
    expect(diary.lines).toEqual(['a@0', 'b@30'])
  })

  it('a frozen round starts nothing; after a thaw it continues', async () => {
    const { stage, diary } = await atTen()
    diary.tookMs = 5 * minute
    await stage.process({
      jobs: diary.jobs('a', 'b'),
      parts: [roundCast({ r: { every: '1h', services: ['a', 'b'] } })],
    })
    await stage.pass(minute)
    await stage.store.hold({ target: 'all', actor: 'me', note: '', now: stage.clock.now() })
    await stage.pass(2 * hour)
    expect(diary.lines).toEqual(['a@0'])
    await stage.store.release({ target: 'all', now: stage.clock.now(), catchUp: false })
    await stage.pass(30 * minute)
    expect(diary.begun.map(({ service }) => service)).toEqual(['a', 'b'])
    expect((await stage.ranges('r')).map(({ reason }) => reason)).toEqual(['checked', 'frozen'])
    expect(await isCovered(stage, 'r')).toBe(true)
  })
})
