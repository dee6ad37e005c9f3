import { describe, expect, it } from 'vitest'
import { aDue, minute, minutesOf, t0 } from '../../../test/fixtures/due-trigger.js'
import { intervalSchedule } from '../../time/interval.js'
import { triggerRunId } from '../identity/occurrence.js'
import { resolveOverlap } from './overlap.js'
import type { OverlapPolicy, UnfinishedRun } from '../trigger/trigger.js'

const schedule = intervalSchedule({ everyMs: minute, anchorAt: t0 })
const running: UnfinishedRun = { id: 'running', state: 'running' }
const waiting: UnfinishedRun = { id: 'waiting', state: 'pending' }

/** Which of the minutes become runs; blockers by name, or by the minute of the run made here. */
function resolved(overlap: OverlapPolicy, unfinished: readonly UnfinishedRun[], minutes: readonly number[]) {
  const due = aDue({ overlap }, { unfinished })
  const names = new Map(minutes.map((at) => [triggerRunId(due.trigger, t0 + at * minute), at]))
  const result = resolveOverlap(
    due,
    schedule,
    minutes.map((at) => t0 + at * minute),
  )
  const nameOf = (id: string | undefined) => (id === undefined ? undefined : (names.get(id) ?? id))
  return {
    runs: result.instants.map(minutesOf),
    ranges: result.ranges.map(({ firstAt, lastAt, blocker }) => [
      minutesOf(firstAt),
      minutesOf(lastAt),
      nameOf(blocker),
    ]),
    rules: new Set(result.ranges.map(({ reason, rule }) => `${reason} ${rule}`)),
    supersede: result.supersede && { ...result.supersede, by: nameOf(result.supersede.by) },
  }
}

const rows: readonly {
  overlap: OverlapPolicy
  unfinished: readonly UnfinishedRun[]
  runs: readonly number[]
  ranges: readonly (readonly [number, number, string | number])[]
  supersede?: { mode: 'cancel' | 'terminate'; by: number }
}[] = [
  { overlap: 'allow', unfinished: [], runs: [1, 2, 3], ranges: [] },
  { overlap: 'allow', unfinished: [running, waiting], runs: [1, 2, 3], ranges: [] },
  { overlap: 'queue-all', unfinished: [running, waiting], runs: [1, 2, 3], ranges: [] },
  { overlap: 'skip', unfinished: [], runs: [3], ranges: [[1, 2, 3]] },
  { overlap: 'skip', unfinished: [running], runs: [], ranges: [[1, 3, 'running']] },
  { overlap: 'skip', unfinished: [waiting, running], runs: [], ranges: [[1, 3, 'waiting']] },
  { overlap: 'queue-one', unfinished: [], runs: [3], ranges: [[1, 2, 3]] },
  { overlap: 'queue-one', unfinished: [running], runs: [3], ranges: [[1, 2, 3]] },
  { overlap: 'queue-one', unfinished: [running, waiting], runs: [], ranges: [[1, 3, 'waiting']] },
  { overlap: 'cancel-running', unfinished: [], runs: [3], ranges: [[1, 2, 3]] },
  {
    overlap: 'cancel-running',
    unfinished: [running],
    runs: [3],
    ranges: [[1, 2, 3]],
    supersede: { mode: 'cancel', by: 3 },
  },
  { overlap: 'terminate-running', unfinished: [], runs: [3], ranges: [[1, 2, 3]] },
  {
    overlap: 'terminate-running',
    unfinished: [waiting],
    runs: [3],
    ranges: [[1, 2, 3]],
    supersede: { mode: 'terminate', by: 3 },
  },
]

describe('three candidates with unfinished runs', () => {
  it.each(rows)(
    '$overlap with $unfinished unfinished: runs $runs, not $ranges',
    ({ overlap, unfinished, runs, ranges, supersede }) => {
      const result = resolved(overlap, unfinished, [1, 2, 3])
      expect(result).toMatchObject({ runs, ranges })
      expect(result.supersede).toEqual(supersede)
      const reason = runs.length === 0 ? 'overlap' : 'collapsed'
      expect([...result.rules]).toEqual(ranges.length === 0 ? [] : [`${reason} overlap:${overlap}`])
    },
  )
})

describe('ranges', () => {
  it('candidates with other instants in between are two ranges', () => {
    expect(resolved('skip', [running], [1, 2, 5, 6]).ranges).toEqual([
      [1, 2, 'running'],
      [5, 6, 'running'],
    ])
  })

  it.each(rows)('$overlap with no candidate does nothing', ({ overlap, unfinished }) => {
    expect(resolved(overlap, unfinished, [])).toMatchObject({ runs: [], ranges: [], supersede: undefined })
  })
})
