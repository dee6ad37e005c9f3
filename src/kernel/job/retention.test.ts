import { describe, expect, it } from 'vitest'
import { defineJob } from './define-job.js'
import { KeptRuns, type EndedRun } from './retention.js'

const day = 86_400_000
const command = ['true']

function retentionOf(retention: unknown): unknown {
  return defineJob('work', { command, retention: retention as never }).retention
}

function faultsOf(retention: unknown): unknown {
  try {
    return retentionOf(retention)
  } catch (error) {
    return (error as { faults: readonly { path: string }[] }).faults.map(({ path }) => path)
  }
}

describe('the retention of a job', () => {
  it('is one for all final states, or one for each', () => {
    const week = { ageMs: 7 * day }
    expect(retentionOf('7d')).toEqual({ done: week, failed: week, cancelled: week })
    expect(retentionOf({ done: '7d', failed: { age: '90d', count: 1000 } })).toEqual({
      done: week,
      failed: { ageMs: 90 * day, count: 1000 },
    })
    expect(retentionOf({ done: { count: 1 } })).toEqual({ done: { count: 1 } })
    expect(retentionOf({})).toBeUndefined()
    expect(retentionOf(undefined)).toBeUndefined()
  })

  it.each([
    ['1s', ['retention']],
    [{ succeeded: '7d' }, ['retention.succeeded']],
    [{ failed: { age: '10s', count: 0 } }, ['retention.failed.age', 'retention.failed.count']],
    [{ failed: { days: 3 } }, ['retention.failed.days']],
  ])('%j is refused at its place', (written, places) => {
    expect(faultsOf(written)).toEqual(places)
  })
})

describe('kept runs', () => {
  const now = 100 * day
  const run = (job: string, state: EndedRun['state'], daysAgo: number): EndedRun => {
    return { id: `${job}-${daysAgo}`, job, state, finishedAt: now - daysAgo * day }
  }

  it('are deleted by the age of their job and final state, or by that of the app', () => {
    const rules = new Map([['work', { done: { ageMs: day }, failed: { ageMs: 90 * day } }]])
    const kept = new KeptRuns({ rules, defaultMs: 30 * day, now })
    expect(kept.isOver(run('work', 'done', 1))).toBe(false)
    expect(kept.isOver(run('work', 'done', 2))).toBe(true)
    expect(kept.isOver(run('work', 'failed', 89))).toBe(false)
    expect(kept.isOver(run('work', 'failed', 91))).toBe(true)
    expect(kept.isOver(run('work', 'cancelled', 31))).toBe(true)
    expect(kept.isOver(run('other', 'failed', 29))).toBe(false)
    expect(kept.isOver(run('other', 'failed', 31))).toBe(true)
  })

  it('are at most as many as the job allows, counted separately for each final state', () => {
    const rules = new Map([['work', { failed: { count: 2 }, done: { count: 1 } }]])
    const kept = new KeptRuns({ rules, defaultMs: 30 * day, now })
    expect(kept.isOver(run('work', 'failed', 1))).toBe(false)
    expect(kept.isOver(run('work', 'done', 2))).toBe(false)
    expect(kept.isOver(run('other', 'failed', 2))).toBe(false)
    expect(kept.isOver(run('work', 'failed', 3))).toBe(false)
    expect(kept.isOver(run('work', 'failed', 4))).toBe(true)
    expect(kept.isOver(run('work', 'done', 5))).toBe(true)
  })
})
