import { describe, expect, test } from 'vitest'
import { detailParts } from '../../dashboard/src/data/range-detail.js'
import { attemptCell, attemptText, triesText } from '../../dashboard/src/words/run.js'
import { missedSentence } from '../../dashboard/src/words/why.js'

describe('the attempts of a run', () => {
  test.each([
    [{ state: 'running', attempt: 2, failures: 1 }, 4, 'attempt 2 of 4', '2 of 4', 'after 2 of 4 attempts'],
    [{ state: 'failed', attempt: 2, failures: 2 }, 2, 'attempt 2 of 2', '2 of 2', 'after 2 of 2 attempts'],
    [{ state: 'failed', attempt: 1, failures: 1 }, 1, 'attempt 1 of 1', '1', 'at its only attempt'],
    [{ state: 'done', attempt: 1, failures: 0 }, 1, 'attempt 1 of 1', '1', ''],
    [{ state: 'pending', attempt: 1, failures: 1 }, 3, 'attempt 1 of 3', '1 of 3', 'after 1 of 3 attempts'],
    [{ state: 'cancelled', attempt: 1, failures: 0 }, 3, 'attempt 1 of 3', '1 of 3', 'after 1 of 3 attempts'],
  ] as const)('%o of %d are counted', (run, allowed, text, cell, tries) => {
    expect([attemptText(run, allowed), attemptCell(run, allowed), triesText(run, allowed)]).toEqual([
      text,
      cell,
      tries,
    ])
  })

  test('that were lost, or came before a retry by hand, are not those that the job allows', () => {
    const again = { state: 'running', attempt: 3, failures: 0 } as const
    expect(attemptText(again, 2)).toBe('attempt 3 (0 of 2 failed)')
    expect(attemptCell(again, 2)).toBe('3')
    expect(triesText({ ...again, state: 'done' }, 2)).toBe('after 3 attempts')
    // The job allowed more when it ran.
    expect(attemptCell({ state: 'failed', attempt: 4, failures: 4 }, 2)).toBe('4')
    expect(attemptText(again, undefined)).toBe('attempt 3')
  })
})

describe('the detail of a range', () => {
  const dueAt = '2026-01-06T09:00:00.000Z'

  test('of a round says what its check found, with instants that can be shown in any zone', () => {
    const detail = `due s1, s2; skipped daily (not_due, due ${dueAt}), other (in_flight, in crawlers), last (tried)`
    expect(detailParts({ rule: 'round:check', detail })).toEqual([
      'due: s1, s2',
      ' · ',
      'skipped: ',
      'daily (not due before ',
      { at: dueAt },
      ')',
      ', ',
      'other (in progress in round crawlers)',
      ', ',
      'last (tried for this check already)',
    ])
    expect(detailParts({ rule: 'round:later', detail: 'skipped a (replaced)' })).toEqual([
      'skipped: ',
      'a (the list was replaced)',
    ])
    expect(detailParts({ rule: 'round:check', detail: dueAt })).toEqual([
      'covered by the check of ',
      { at: dueAt },
    ])
    expect(detailParts({ rule: 'round:check', detail: 'the new list' })).toEqual(['the new list'])
  })

  test('of anything else is the text, made visible; nothing where there is none', () => {
    expect(detailParts({ rule: 'hold', detail: 'ana: \u202Edb' })).toEqual(['ana: \\u202edb'])
    expect(detailParts({ rule: 'hold', detail: null })).toEqual([])
  })
})

describe('what was missed', () => {
  const missed = {
    trigger: 'new-year',
    ranges: 1,
    firstAt: '2026-01-01T00:00:00.000Z',
    lastAt: '2026-01-01T00:00:00.000Z',
    rule: 'catch-up:max-age',
    detail: null,
    catchUp: { graceMs: 1000, maxAgeMs: 3_600_000, maxRuns: 1 },
    recordedAt: '2026-01-01T02:00:00.000Z',
    seq: 1,
  }

  test('says how late it was found, and the number that decided', () => {
    expect(missedSentence(missed)).toBe(
      'Nothing was running then; found 2 h late. The trigger runs nothing that is more than 1h late (catchUp.maxAge).',
    )
    expect(missedSentence({ ...missed, rule: 'catch-up:skip' })).toContain(
      'more than 1 s late (catchUp: skip)',
    )
  })

  test('names no number of a definition that was changed since, and no process that was not missing', () => {
    expect(missedSentence({ ...missed, catchUp: null })).toContain('later than its catchUp.maxAge')
    expect(missedSentence({ ...missed, detail: 'the round was stopped' })).toBe(
      'It did not run: the round was stopped.',
    )
  })
})
