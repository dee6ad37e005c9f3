import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RunConditions } from '../../store/run-conditions.js'
import { parseInstant } from '../../time/instant.js'
import { systemClock } from '../../time/clock.js'
import { completeQuery } from './complete.js'
import { readConditions } from './given.js'
import { parseRunQuery } from './run-query.js'

const now = parseInstant('2026-01-05T09:00:00Z')
const here = { zone: 'Europe/Berlin', now }

const queries: readonly [text: string, conditions: RunConditions][] = [
  ['', {}],
  ['state:failed', { state: ['failed'] }],
  ['state:failed,cancelled job:mail', { state: ['failed', 'cancelled'], job: 'mail' }],
  ['state:failed state:done', { state: ['failed', 'done'] }],
  ['job:"a job, with a comma",b', { job: ['a job, with a comma', 'b'] }],
  [
    'error:ECONN* label.customer:42 label.plan:free',
    { errorCode: 'ECONN*', labels: { customer: '42', plan: 'free' } },
  ],
  ['late:>1m', { late: { byMs: 60_000, at: now } }],
  ['since:2h until:1h', { sinceAt: now - 7_200_000, untilAt: now - 3_600_000 }],
  ['since:2h due:today', { sinceAt: now - 7_200_000, untilAt: parseInstant('2026-01-05T22:59:59.999Z') }],
  ['  connection   refused ', { errorText: 'connection refused' }],
  ['"Error: no"', { errorText: 'Error: no' }],
  ['message:"say \\"no\\""', { errorText: 'say "no"' }],
  [
    'queue:mail origin:sensor partition:2026-01-05 worker:web-1*',
    {
      queue: 'mail',
      origin: ['sensor'],
      partition: '2026-01-05',
      worker: 'web-1*',
    },
  ],
]

it.each(queries)('the query %j is read', (text, conditions) => {
  expect(parseRunQuery(text, here)).toEqual({ conditions, faults: [] })
})

const refused: readonly [text: string, from: number, to: number, message: RegExp][] = [
  ['job:a sate:failed', 6, 17, /"sate" is not a name .*did you mean state/],
  ['state:fialed', 6, 12, /"fialed" is not one of the values/],
  ['job:a due:someday', 6, 17, /due: "someday"/],
  ['queue:a,b', 6, 9, /it takes one value/],
  ['queue:', 6, 6, /a value is missing/],
  ['queue:a queue:b', 8, 15, /queue is given twice/],
  ['job:"a', 4, 6, /the quote does not end/],
  ['Error: no', 0, 6, /"Error" is not a name .*did you mean error/],
  ['https://example.org', 0, 19, /text to search for goes in quotes/],
  ['label.a:1 label.b:1 label.c:1 label.d:1 label.e:1', 0, 0, /5 labels/],
  ['late:soon', 0, 9, /late/],
]

it.each(refused)('the query %j is refused with a place', (text, from, to, message) => {
  const { faults } = parseRunQuery(text, here)
  expect(faults).toMatchObject([{ from, to, message: expect.stringMatching(message) as string }])
})

it('the fault of an option says its name once', () => {
  const given = [{ name: 'since', text: 'soon', place: '--since' }]
  const { faults } = readConditions(given, undefined, here)
  expect(faults).toMatchObject([{ path: '--since', message: expect.stringMatching(/^"soon"/) as string }])
})

it('a query has a bound on its length and its terms', () => {
  expect(parseRunQuery('x'.repeat(1001), here).faults).toHaveLength(1)
  expect(parseRunQuery('a '.repeat(40), here).faults).toHaveLength(1)
})

it('any text is read or refused quickly', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 1000 }),
    fc
      .array(fc.constantFrom('state:', 'due:', '"', '\\', ',', ':', ' ', 'late:>', '..', 'P', '1', '*'), {
        maxLength: 300,
      })
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (given) => {
      const startMs = systemClock.monotonicMs()
      const { faults } = parseRunQuery(given, here)
      completeQuery(given, given.length)
      expect(systemClock.monotonicMs() - startMs).toBeLessThan(1000)
      for (const { from, to } of faults) expect(from).toBeLessThanOrEqual(to)
    }),
  )
})

it('completions are suggested', () => {
  expect(completeQuery('', 0).options.map(({ text }) => text)).toContain('state:')
  expect(completeQuery('job:a st', 8)).toMatchObject({ from: 6, to: 8, options: [{ text: 'state:' }] })
  expect(completeQuery('state:failed,can', 16)).toMatchObject({
    from: 13,
    to: 16,
    options: [{ text: 'cancelled' }],
  })
  expect(completeQuery('job:ma', 6)).toMatchObject({ from: 4, to: 6, names: 'job', typed: 'ma' })
})
