/** The qualifiers of a query, by name: their values, and how they are read. */
import type { RunOrigin, RunState } from '../../kernel/run/run.js'
import { quotedText } from '../../text/error-text.js'
import { parseDuration } from '../../time/duration.js'
import { parseMoment, parseWindow, type Here } from '../../time/moment.js'
import type { RunConditions } from '../../store/run-conditions.js'

/** The states of runs, as queries and options name them. */
export const runStates = [
  'pending',
  'running',
  'done',
  'failed',
  'cancelled',
] as const satisfies readonly RunState[]

/** The origins of runs, as queries and options name them. */
export const runOrigins = [
  'trigger',
  'enqueue',
  'manual',
  'sensor',
  'round',
  'upstream',
  'backfill',
] as const satisfies readonly RunOrigin[]

/** A name that a query can have before a colon. */
export interface Qualifier {
  readonly name: string
  /** One sentence without a full stop. */
  readonly help: string
  /** A value as an example. */
  readonly example: string
  /** The only values. */
  readonly choices?: readonly string[]
  /** Names in the store, for completion. */
  readonly completes?: 'job' | 'trigger' | 'queue' | 'worker' | 'error' | 'partition'
  /** Whether it takes several values, of which one must match. */
  readonly isList?: boolean
  /** Converts its values to conditions; throws an error with a sentence about an invalid value. */
  readonly read: (items: readonly string[], here: Here) => RunConditions
}

/** Every qualifier except `label.<name>`, in the order in which they are suggested. */
export const qualifiers: readonly Qualifier[] = [
  {
    name: 'state',
    help: 'in one of these states',
    example: 'failed,cancelled',
    choices: runStates,
    isList: true,
    read: (items) => ({ state: items as RunState[] }),
  },
  {
    name: 'job',
    help: 'of one of these jobs',
    example: 'mail',
    completes: 'job',
    isList: true,
    read: (items) => ({ job: onlyOrAll(items) }),
  },
  {
    name: 'trigger',
    help: 'of one of these triggers',
    example: 'nightly',
    completes: 'trigger',
    isList: true,
    read: (items) => ({ trigger: onlyOrAll(items) }),
  },
  {
    name: 'queue',
    help: 'of jobs in this queue',
    example: 'mail',
    completes: 'queue',
    read: ([queue]) => ({ queue }),
  },
  {
    name: 'origin',
    help: 'with one of these origins',
    example: 'sensor',
    choices: runOrigins,
    isList: true,
    read: (items) => ({ origin: items as RunOrigin[] }),
  },
  {
    name: 'partition',
    help: 'of this partition',
    example: '2026-01-05',
    completes: 'partition',
    read: ([partition]) => ({ partition }),
  },
  {
    name: 'error',
    help: 'with this error code; * at the end matches any text',
    example: 'ECONN*',
    completes: 'error',
    read: ([errorCode]) => ({ errorCode }),
  },
  {
    name: 'message',
    help: 'with this text in the message of the error',
    example: '"timed out"',
    read: ([errorText]) => ({ errorText }),
  },
  {
    name: 'worker',
    help: 'held by this worker; * at the end matches any text',
    example: 'web-1*',
    completes: 'worker',
    read: ([worker]) => ({ worker }),
  },
  {
    name: 'due',
    help: 'due on this day, in this period, or between two times',
    example: 'today',
    read: ([text = ''], here) => {
      const { fromAt, untilAt } = parseWindow(text, here)
      return { sinceAt: fromAt, untilAt }
    },
  },
  {
    name: 'since',
    help: 'due at this time or later, such as 2h or 2026-01-05',
    example: 'yesterday',
    read: ([text = ''], here) => ({ sinceAt: parseMoment(text, { ...here, bare: 'ago' }) }),
  },
  {
    name: 'until',
    help: 'due at this time or earlier',
    example: '1h',
    read: ([text = ''], here) => ({ untilAt: parseMoment(text, { ...here, bare: 'ago' }) }),
  },
  {
    name: 'late',
    help: 'started later than this after the due instant, or not started yet',
    example: '>1m',
    read: ([text = ''], { now }) => ({
      late: { byMs: parseDuration(text.startsWith('>') ? text.slice(1) : text), at: now },
    }),
  },
]

/** The prefix of the names of labels. */
export const labelPrefix = 'label.'

/** The qualifier with a name; those of labels are created on demand. */
export function qualifierOf(name: string): Qualifier | undefined {
  if (!name.startsWith(labelPrefix)) return qualifiers.find((one) => one.name === name)
  const label = name.slice(labelPrefix.length)
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(label)) return undefined
  const read = ([value = '']: readonly string[]): RunConditions => ({ labels: { [label]: value } })
  return { name, help: 'with this label', example: '42', read }
}

/** The sentence about an invalid value of a qualifier; undefined if it is valid. */
export function faultIn(
  { choices, isList = false }: Qualifier,
  items: readonly string[],
): string | undefined {
  if (items.some((item) => item === '')) return 'a value is missing'
  if (!isList && items.length > 1) return 'it takes one value; put a text with a comma in quotes'
  const unknown = items.find((item) => choices?.includes(item) === false)
  if (unknown !== undefined) return `${quotedText(unknown)} is not one of the values`
  const long = items.find((item) => item.length > longestValue)
  return long === undefined ? undefined : `a value has ${long.length} characters, more than ${longestValue}`
}

const longestValue = 512

/** One name can use an index; several need a search. */
function onlyOrAll(items: readonly string[]): string | readonly string[] {
  return items.length === 1 ? (items[0] as string) : items
}
