import { rolledSeries } from './upkeep/rolled-series.js'
import { describe, expect, it } from 'vitest'
import {
  changed,
  enqueue,
  hour,
  minute,
  runOf,
  second,
  Stage,
  t0,
  total,
  troubled,
  Work,
} from '../../test/fixtures/engine-stage.js'
import { RotaError } from '../kernel/definition/errors.js'
import type { RunContext } from './worker/perform.js'

describe('trouble with the store', () => {
  it('ends without a restart: nothing is lost, and no event is emitted twice', async () => {
    const stage = new Stage()
    const { store, state, calls } = troubled(stage.store)
    const work = new Work()
    const process = await stage.process({
      jobs: { work: work.handler },
      triggers: { t: { cron: '* * * * * *', overlap: 'allow', catchUp: 'all' } },
      store,
      concurrency: 100,
    })
    await stage.pass(3 * second)
    state.error = new RotaError('STORE_FULL', 'no room')
    calls.clear()
    await work.endAll()
    await stage.pass(15 * second)
    // Not a busy loop: each of the loops waits longer and longer, up to five seconds.
    expect(total(calls)).toBeLessThan(100)
    expect(process.of('trouble').every(({ error }) => (error as RotaError).code === 'STORE_FULL')).toBe(true)
    expect(process.of('run:ended')).toEqual([])
    state.error = undefined
    await stage.pass(10 * second)
    await work.endAll()
    const runs = await stage.runs('t')
    expect(runs.map((run) => run.dueAt)).toEqual(Array.from({ length: 28 }, (_, i) => t0 + (i + 1) * second))
    expect(runs.every((run) => run.state === 'done' && run.attempt === 1)).toBe(true)
    const told = process.of('run:ended').map((ended) => ended.run)
    expect(told.length).toBe(28)
    expect(new Set(told).size).toBe(28)
    expect(process.of('run:refused')).toEqual([])
  })

  it('runs claimed by a turn whose answer was lost are still performed', async () => {
    const stage = new Stage()
    const work = new Work()
    let lose = false
    const store = changed(stage.store, {
      turn: async (turn) => {
        const answer = await stage.store.turn(turn)
        if (lose && answer.claims.length > 0) {
          lose = false
          throw new RotaError('STORE_BUSY', 'the connection was lost after the commit')
        }
        return answer
      },
    })
    await stage.process({ jobs: { work: work.handler }, store })
    lose = true
    await enqueue(stage, ['a', 'b'])
    await stage.pass(second)
    expect(new Set(work.begun.map((run) => run.payload))).toEqual(new Set(['a', 'b']))
    await work.endAll()
    expect((await stage.runs()).map((run) => [run.state, run.attempt])).toEqual([
      ['done', 1],
      ['done', 1],
    ])
  })

  it('claims and notices are not lost when the jobs cannot be read', async () => {
    const stage = new Stage()
    const work = new Work()
    let isFailing = false
    const process = await stage.process({
      jobs: { work: work.handler },
      onReadJobs: async () => {
        if (isFailing) throw new RotaError('STORE_BUSY', 'busy')
      },
    })
    const [first = ''] = await enqueue(stage, ['a'])
    isFailing = true
    stage.tables.jobsRevision += 1
    await stage.store.cancel({ run: first, now: t0, reason: 'no' })
    await enqueue(stage, ['b'])
    await stage.pass(second)
    isFailing = false
    await stage.pass(10 * second)
    expect(process.of('trouble').length).toBeGreaterThan(0)
    expect(work.begun.map((run) => run.payload)).toEqual(['a', 'b'])
    expect((await runOf(stage, first)).state).toBe('cancelled')
    expect(process.of('run:refused')).toEqual([])
  })

  it.each(['STORE_IO', 'STORE_CORRUPT', 'STORE_CLOSED'] as const)(
    'after %s the engine stops everything and emits an event',
    async (code) => {
      const stage = new Stage()
      const { store, state, calls } = troubled(stage.store)
      const work = new Work()
      const process = await stage.process({ jobs: { work: work.handler }, store })
      await enqueue(stage, ['a'])
      state.error = new RotaError(code, 'broken')
      await stage.pass(minute)
      expect(process.of('fatal').length).toBeGreaterThan(0)
      expect(process.engine.isReady).toBe(false)
      expect(work.begun[0]?.signal.aborted).toBe(true)
      calls.clear()
      await stage.pass(10 * minute)
      expect(total(calls)).toBeLessThan(5)
      await process.engine.stop({ graceMs: 0 })
    },
  )
})

describe('listeners', () => {
  it('that throws or rejects does no harm: its error becomes a trouble event', async () => {
    const stage = new Stage()
    const process = await stage.process({ jobs: { work: (run: RunContext) => run.payload } })
    process.events.on('run:started', () => {
      throw new Error('sync listener')
    })
    process.events.on('run:ended', () => Promise.reject(new Error('async listener')) as unknown as undefined)
    const [id] = await enqueue(stage, ['a'])
    expect(await runOf(stage, id)).toMatchObject({ state: 'done' })
    expect(process.of('trouble').map(({ where }) => where)).toEqual([
      'listener of run:started',
      'listener of run:ended',
    ])
  })
})

describe('history', () => {
  it('a run is counted before it is pruned, however short the retention is', async () => {
    const stage = new Stage()
    await stage.process({
      jobs: { work: () => undefined },
      triggers: { t: { cron: '*/10 * * * *' } },
      retentionMs: minute,
    })
    await stage.pass(5 * hour)
    expect((await stage.runs('t')).length).toBeLessThan(20)
    const fromAt = t0 - (t0 % hour)
    const rows = await rolledSeries(stage.store, { fromAt, untilAt: fromAt + 26 * hour, bucketMs: hour })
    expect(rows.slice(1, 4).map(({ runs }) => runs)).toEqual([6, 6, 6])
  })

  it('final runs are pruned when they are old enough, and the ledger still accounts for them', async () => {
    const stage = new Stage()
    await stage.process({
      jobs: { work: () => undefined },
      triggers: { t: { cron: '*/10 * * * *' } },
      retentionMs: 2 * hour,
    })
    await stage.pass(6 * hour)
    const runs = await stage.runs('t')
    expect(runs.length).toBeLessThan(20)
    expect(await stage.ranges('t')).toMatchObject([{ reason: 'pruned', firstAt: t0 + 10 * minute }])
  })
})
