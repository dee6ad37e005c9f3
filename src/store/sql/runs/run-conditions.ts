import type { RunState } from '../../../kernel/run/run.js'
import { listOf, readPattern, searchedText } from '../../run-filter.js'
import { mostLabels, type RunConditions } from '../../run-conditions.js'
import { originCode } from '../rows/run-rows.js'
import { blocked, done, running, statesOf } from '../rows/states.js'
import type { Session } from '../session.js'
import type { SqlValue } from '../statement.js'
import type { Verb } from '../verb.js'

/**
 * The conditions of any filter in one text: an absent value is null. So there are few statements, each prepared once,
 * however many filters there are.
 */
export function conditionsFrom(first: number): string {
  return conditions
    .map((condition, i) => {
      const value = `$${first + i}`
      return `(${value}::${condition.type} is null or ${condition.text.replaceAll('@', `${value}::${condition.type}`)})`
    })
    .join(' and ')
}

/** The values of these conditions, in order. */
export function* conditionValues(session: Session, given: RunConditions): Verb<readonly SqlValue[]> {
  const { partition, errorCode, errorText, late } = given
  const labels = Object.entries(given.labels ?? {}).map(labelFragment)
  return [
    listOf(given.state)?.flatMap(statesOf) ?? null,
    (yield* jobsOf(session, given)) ?? null,
    listOf(given.trigger) ?? null,
    listOf(given.origin)?.map(originCode) ?? null,
    (yield* workersOf(session, given.worker)) ?? null,
    partition ?? null,
    ...Array.from({ length: mostLabels }, (_, i) => labels[i] ?? null),
    errorCode === undefined ? null : errorFragment(errorCode),
    errorText === undefined ? null : searchedText(errorText),
    late === undefined ? null : JSON.stringify([Math.floor(late.byMs), Math.floor(late.at)]),
  ]
}

/** The states of a filter; with a worker only running runs can match. */
export function statesAsked({ state, worker }: RunConditions): readonly RunState[] | undefined {
  const states = listOf(state)
  if (worker === undefined) return states
  return states === undefined || states.includes('running') ? ['running'] : []
}

interface Condition {
  readonly type: 'int8[]' | 'text[]' | 'text'
  /** The condition; `@` is the value. */
  readonly text: string
}

/** The part of a text between two marks. */
function between(text: string, start: string, end: string): string {
  const behind = `substr(${text}, strpos(${text}, '${start}') + ${start.length})`
  return `substr(${behind}, 1, strpos(${behind} || '${end}', '${end}') - 1)`
}

// An error is stored as `{"code":"…","message":"…","stack":"…"}`, perhaps without a stack. A quote inside a text has a
// backslash before it, so that the marks are between texts. Reading it as JSON would fail in Postgres for some texts.
const MESSAGE = between(`(rtrim(runs.error, '}') || ',"')`, '","message":"', '","')

const [byMs, at] = [`(@::json ->> 0)::int8`, `(@::json ->> 1)::int8`]

const conditions: readonly Condition[] = [
  { type: 'int8[]', text: 'runs.state = any(@)' },
  { type: 'text[]', text: 'runs.job = any(@)' },
  { type: 'text[]', text: 'runs.trigger = any(@)' },
  { type: 'int8[]', text: 'runs.origin = any(@)' },
  { type: 'int8[]', text: `runs.state = ${running} and runs.worker = any(@)` },
  { type: 'text', text: 'runs.partition = @' },
  ...Array.from(
    { length: mostLabels },
    (): Condition => ({ type: 'text', text: `strpos(',' || substr(runs.labels, 2), @) > 0` }),
  ),
  { type: 'text', text: 'strpos(runs.error, @) = 1' },
  { type: 'text', text: `strpos(lower(${MESSAGE} collate "C"), @) > 0` },
  {
    type: 'text',
    text: `case when runs.state <= ${blocked} then ${at} - runs.due_at > ${byMs}
      when runs.state = ${running} then coalesce(runs.started_at, ${at}) - runs.due_at > ${byMs}
      when runs.state >= ${done} then runs.started_at - runs.due_at > ${byMs} else false end`,
  },
]

/** Labels are stored as one JSON object; with a comma instead of its brace, a comma is before each name. */
function labelFragment([name, value]: [string, string]): string {
  return `,${JSON.stringify(name)}:${JSON.stringify(value)}`
}

function errorFragment(pattern: string): string {
  const { text, isPrefix } = readPattern(pattern)
  const code = JSON.stringify(text)
  return `{"code":${isPrefix ? code.slice(0, -1) : code}`
}

/** The jobs of a filter, limited to those of its queue. */
function* jobsOf(session: Session, { job, queue }: RunConditions): Verb<readonly string[] | undefined> {
  const named = listOf(job)
  if (queue === undefined) return named
  const { jobs } = yield* session.catalog()
  const inQueue = [...jobs.values()].flatMap((one) => (one.queue === queue ? [one.name] : []))
  return named === undefined ? inQueue : inQueue.filter((name) => named.includes(name))
}

// Relies on: the unique index of workers.id.
const WORKER_KEYS = `select key from rota.workers where id >= $1 and id < $2 order by id limit 1000`

function* workersOf(session: Session, pattern: string | undefined): Verb<readonly number[] | undefined> {
  if (pattern === undefined) return undefined
  const { text, isPrefix } = readPattern(pattern)
  const end = isPrefix ? `${text}\u{10ffff}` : `${text}\u0001`
  return (yield* session.sql.all<{ key: number }>(WORKER_KEYS, text, end)).map(({ key }) => key)
}
