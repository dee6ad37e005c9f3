import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInstant } from '../../../time/instant.js'
import { backfillChoices, labelsByReason, planBackfill, type BackfillRequest } from './choice.js'
import { byKeys, custom, daily, hourly, twoDimensional } from '../../../kernel/partition/define.js'
import { partitionStates, type PartitionState } from '../partition-state.js'

const now = parseInstant('2026-02-01T00:00:00Z')
const states: Readonly<Record<string, PartitionState>> = {
  '2026-01-01': 'done',
  '2026-01-02': 'missing',
  '2026-01-03': 'failed',
  '2026-01-04': 'stale',
  '2026-01-05': 'running',
  '2026-01-06': 'missing',
}
const request: BackfillRequest = {
  spec: daily(),
  partitions: { from: '2026-01-01', to: '2026-01-06' },
  stateOf: (label) => states[label] ?? 'missing',
  now,
}

it('F13: a plan of many partitions is grouped by its reasons in one pass', () => {
  // Several times the maximum number of partitions: copying a group for each label would take minutes.
  const skip = Array.from({ length: 300_000 }, (_, index) => ({
    label: String(index),
    reason: index % 3 === 0 ? ('done' as const) : ('not-begun' as const),
  }))
  const groups = labelsByReason({ run: [], skip })
  expect([...groups].map(([reason, labels]) => [reason, labels.length, labels[0]])).toEqual([
    ['done', 100_000, '0'],
    ['not-begun', 200_000, '1'],
  ])
})

describe('F13: the plan of a backfill', () => {
  it.each([
    { only: 'missing', run: ['2026-01-02', '2026-01-06'] },
    { only: 'failed', run: ['2026-01-03'] },
    { only: 'missing-or-failed', run: ['2026-01-02', '2026-01-03', '2026-01-06'] },
    { only: 'stale', run: ['2026-01-04'] },
    { only: 'all', run: ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04', '2026-01-06'] },
  ] as const)('only $only', ({ only, run }) => {
    expect(planBackfill({ ...request, only }).run).toEqual(run)
  })

  it('says what it skips, and why', () => {
    expect(planBackfill({ ...request, limit: 1 })).toEqual({
      run: ['2026-01-02'],
      skip: [
        { label: '2026-01-01', reason: 'done' },
        { label: '2026-01-03', reason: 'failed' },
        { label: '2026-01-04', reason: 'stale' },
        { label: '2026-01-05', reason: 'running' },
        { label: '2026-01-06', reason: 'limit' },
      ],
    })
  })

  it('with newest-first, the limit skips the oldest', () => {
    const plan = planBackfill({ ...request, order: 'newest-first', limit: 1 })
    expect(plan.run).toEqual(['2026-01-06'])
    expect(plan.skip.at(0)).toEqual({ label: '2026-01-05', reason: 'running' })
  })

  it('a slice that has not begun is skipped, the current one is not', () => {
    const partitions = { from: '2026-01-31', to: '2026-02-02' }
    expect(planBackfill({ ...request, partitions })).toEqual({
      run: ['2026-01-31', '2026-02-01'],
      skip: [{ label: '2026-02-02', reason: 'not-begun' }],
    })
  })

  it('given labels are put in the order of their spec, each once', () => {
    const partitions = ['2026-01-06', '2026-01-02', '2026-01-06']
    expect(planBackfill({ ...request, partitions }).run).toEqual(['2026-01-02', '2026-01-06'])
    const pairs = twoDimensional(daily(), byKeys(['us', 'eu']))
    const named = ['2026-01-02|eu', '2026-01-01|eu', '2026-01-02|us']
    expect(planBackfill({ ...request, spec: pairs, partitions: named }).run).toEqual([
      '2026-01-01|eu',
      '2026-01-02|us',
      '2026-01-02|eu',
    ])
    expect(planBackfill({ ...request, spec: custom(), partitions: ['b', 'a'] }).run).toEqual(['b', 'a'])
    const hours = ['2026-10-25T02:00+01:00', '2026-10-25T02:00+02:00']
    const spec = hourly({ timezone: 'Europe/Berlin' })
    const later = parseInstant('2026-11-01T00:00:00Z')
    expect(planBackfill({ ...request, spec, partitions: hours, now: later }).run).toEqual(hours.toReversed())
  })

  it('all invalid labels are reported together', () => {
    expect(() => planBackfill({ ...request, partitions: ['2026-01-01', '2026-02-30', 'x'] })).toThrow(
      expect.objectContaining({
        code: 'PARTITION_INVALID',
        faults: [
          expect.objectContaining({ path: 'partitions[1]' }),
          expect.objectContaining({ path: 'partitions[2]', message: '"x" is not the label of a day' }),
        ],
      }),
    )
  })

  it('more partitions than the limit are refused, and the error names the limit', () => {
    const partitions = { from: '2000-01-01T00:00Z', to: '2026-01-01T00:00Z' }
    expect(() => planBackfill({ ...request, spec: hourly(), partitions })).toThrow(
      /more than the limit of 100000/,
    )
  })

  it('every requested partition is in the plan exactly once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...partitionStates), { minLength: 1, maxLength: 28 }),
        fc.constantFrom(...backfillChoices),
        fc.constantFrom('oldest-first', 'newest-first'),
        fc.option(fc.nat(10), { nil: undefined }),
        (drawn, only, order, limit) => {
          const labelOf = (index: number): string => `2026-01-${String(index + 1).padStart(2, '0')}`
          const labels = drawn.map((_, index) => labelOf(index))
          const stateOf = (label: string): PartitionState => drawn[labels.indexOf(label)] ?? 'missing'
          const partitions = { from: labelOf(0), to: labelOf(drawn.length - 1) }
          const { run, skip } = planBackfill({ ...request, partitions, stateOf, only, order, limit })
          expect([...run, ...skip.map(({ label }) => label)].toSorted()).toEqual(labels)
          expect(run.length).toBeLessThanOrEqual(limit ?? Infinity)
          expect(run.some((label) => stateOf(label) === 'running')).toBe(false)
        },
      ),
    )
  })
})
