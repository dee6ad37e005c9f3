import { describe, expect, it } from 'vitest'
import { afterSuccess, judgeFreshness, newFreshness, type Freshness } from './freshness.js'

const subject = { of: 'job', name: 'sync', trigger: null, job: 'sync' } as const
const withinMs = 100

/** Plays successes and looks; returns the last successes that were found to be too old, and when. */
function play(steps: readonly (readonly ['success' | 'look', number])[]): string[] {
  let known: Freshness = newFreshness(withinMs, 0)
  const told: string[] = []
  for (const [what, at] of steps) {
    if (what === 'success') {
      known = afterSuccess(known, at)
      continue
    }
    if (known.deadlineAt >= at) continue
    const { breaches, next } = judgeFreshness(known, subject, at)
    told.push(
      ...breaches.map(
        (one) => `${one.isFirst === true ? 'never' : 'last'} ${one.dueAt} until ${one.deadlineAt}`,
      ),
    )
    known = next
  }
  return told
}

describe('the age of the last success', () => {
  it.each<[string, readonly (readonly ['success' | 'look', number])[], string[]]>([
    ['counts from the definition on', [['look', 101]], ['never 0 until 100']],
    [
      'is within the limit up to the last millisecond',
      [
        ['success', 100],
        ['look', 101],
        ['look', 200],
      ],
      [],
    ],
    [
      'is reported once for each gap',
      [
        ['look', 101],
        ['look', 250],
        ['look', 1000],
      ],
      ['never 0 until 100'],
    ],
    [
      'is reported again after another success became too old',
      [
        ['look', 101],
        ['success', 150],
        ['look', 202],
        ['look', 251],
      ],
      ['never 0 until 100', 'last 150 until 250'],
    ],
    [
      'is reported even if a success came before the check',
      [
        ['success', 50],
        ['success', 200],
        ['look', 250],
        ['look', 301],
      ],
      ['last 50 until 150', 'last 200 until 300'],
    ],
    [
      'is reported for every gap that was not checked',
      [
        ['success', 150],
        ['success', 300],
        ['look', 310],
      ],
      ['never 0 until 100', 'last 150 until 250'],
    ],
    [
      'is not reported while successes come in time',
      [
        ['success', 90],
        ['look', 101],
        ['success', 180],
        ['look', 191],
      ],
      [],
    ],
  ])('%s', (_, steps, told) => {
    expect(play(steps)).toEqual(told)
  })

  it('keeps its last success when the promise changes', () => {
    const known = afterSuccess(newFreshness(100, 0), 40)
    expect(newFreshness(30, 50, known)).toMatchObject({ withinMs: 30, lastAt: 40, deadlineAt: 70 })
    expect(newFreshness(5, 50, known)).toMatchObject({ deadlineAt: 50 })
  })
})
