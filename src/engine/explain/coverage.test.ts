import { describe, expect, it } from 'vitest'
import { day, hour, minute, second, Stage, t0 } from '../../../test/fixtures/engine-stage.js'
import { defineTrigger } from '../../kernel/trigger/define-trigger.js'
import type { RangeRow, RunRow } from '../../store/memory/tables.js'
import { isComplete, type Coverage } from '../../kernel/ledger/coverage.js'
import { coverageOf } from './coverage.js'
import { define } from '../sync/sync.js'
import { timedKinds as kinds } from '../timed/kinds.js'

async function coverage(stage: Stage, since?: number): Promise<Coverage> {
  return await coverageOf(stage.store, await stage.trigger('t'), { kinds, since })
}

/** An hour in which some instants ran and some were missed. */
async function anHour(): Promise<Stage> {
  const stage = new Stage()
  const cast = {
    jobs: { work: () => undefined },
    triggers: { t: { cron: '* * * * *', catchUp: 'skip' as const } },
  }
  const process = await stage.process(cast)
  await stage.pass(20 * minute)
  await process.engine.stop({ graceMs: 0 })
  await stage.pass(20 * minute)
  await stage.process(cast)
  await stage.pass(20 * minute)
  return stage
}

describe('coverage', () => {
  it('accounts for every instant of the stored definitions', async () => {
    const stage = await anHour()
    const found = await coverage(stage)
    expect(found).toMatchObject({ due: 60, unexplainedCount: 0, unexpectedCount: 0 })
    const explained = Object.values(found.explained).reduce((sum, count) => sum + count, 0)
    expect(found.run + explained).toBe(60)
    expect(isComplete(found)).toBe(true)
  })

  it('counts from the requested instant', async () => {
    const stage = await anHour()
    expect(await coverage(stage, t0 + 50 * minute)).toMatchObject({ due: 10, run: 10 })
  })

  it('finds that a run was removed from the store', async () => {
    const stage = await anHour()
    const own = stage.tables.runsByTrigger.get('t')?.own
    const [, victim] = [...(own ?? [])] as RunRow[]
    own?.delete(victim as RunRow)
    const found = await coverage(stage)
    expect(found).toMatchObject({ unexplainedCount: 1, unexplained: [t0 + 2 * minute] })
    expect(isComplete(found)).toBe(false)
  })

  it('finds that a range was removed from the store', async () => {
    const stage = await anHour()
    const ranges = stage.tables.runsByTrigger.get('t')?.ranges
    for (const range of [...(ranges ?? [])] as RangeRow[]) ranges?.delete(range)
    const found = await coverage(stage)
    expect(found.unexplainedCount).toBeGreaterThan(15)
    expect(found.unexplained.length).toBeLessThanOrEqual(20)
  })

  it('finds a run at an instant that was never due', async () => {
    const stage = await anHour()
    const own = stage.tables.runsByTrigger.get('t')?.own
    const [first] = [...(own ?? [])] as RunRow[]
    own?.add({ ...(first as RunRow), dueAt: t0 + 90 * second, id: 'x'.repeat(36) })
    expect(await coverage(stage)).toMatchObject({ unexpectedCount: 1, unexpected: [t0 + 90 * second] })
  })

  it('counts the runs of a chain, and finds a chain that does not continue', async () => {
    const stage = new Stage()
    await stage.process({
      jobs: { work: () => undefined },
      triggers: { t: { every: '1m', after: 'finish' } },
    })
    await stage.pass(hour)
    const whole = await stage.trigger('t')
    const found = await coverageOf(stage.store, whole, { kinds })
    expect(found.run).toBeGreaterThan(0)
    expect(isComplete(found)).toBe(true)
    const broken = { ...whole, nextAt: undefined, chainRun: undefined }
    expect(isComplete(await coverageOf(stage.store, broken, { kinds }))).toBe(false)
  })

  it('counts every run of a chain that was pruned', async () => {
    const stage = new Stage()
    await stage.process({
      jobs: { work: () => undefined },
      triggers: { t: { every: '1m', after: 'finish' } },
      retentionMs: 100 * minute,
    })
    await stage.pass(300 * minute)
    const found = await coverage(stage)
    const { pruned = 0 } = found.explained
    expect(pruned).toBeGreaterThan(150)
    expect(found).toMatchObject({ due: found.run + pruned, fromAt: t0 })
    expect(found.due).toBe(300)
    expect(isComplete(found)).toBe(true)
    // The due instants of pruned runs are unknown, so the whole pruned range is counted.
    expect(await coverage(stage, t0 + 100 * minute)).toMatchObject({ due: found.due, run: found.run })
    expect((await coverage(stage, t0 + 250 * minute)).due).toBeLessThan(60)
  })

  it('a month of a per-second trigger is counted second by second, and leaves the process responsive', async () => {
    const stage = new Stage()
    const trigger = defineTrigger('t', { job: 'work', cron: '* * * * * *', catchUp: 'skip' })
    await define(stage.store, { kinds, source: 'code:test', triggers: [trigger], now: t0 })
    await stage.pass(30 * day)
    await stage.process({
      jobs: { work: () => undefined },
      triggers: { t: { cron: '* * * * * *', catchUp: 'skip' } },
    })
    let breaths = 0
    const timer = setInterval(() => (breaths += 1), 1)
    const found = await coverage(stage)
    clearInterval(timer)
    expect(found.due).toBe(30 * 86_400)
    expect(isComplete(found)).toBe(true)
    expect(breaths).toBeGreaterThan(10)
  })
})
