/** The filter of the list as text, such as `mail state:paused job:send next:<1h`, and what it asks the server for. */
import type { Operations } from '../../../../src/client/operations.js'
import type { Qualifier } from '../../parts/qualifiers.js'
import { words } from '../../words/triggers.js'

type Query = NonNullable<Operations['GET /triggers']['request']['query']>

/** What a filter asks for. */
export interface TriggerFilter {
  readonly query: Query
  /** Only triggers that are due within this time; they are listed in the order in which they are due. */
  readonly withinMs: number | undefined
  /** What is wrong with the filter. */
  readonly error: string | undefined
}

const states = ['active', 'paused', 'ended', 'any'] as const
const orders = ['name', 'next'] as const

/** What the search field completes. */
export const qualifiers: readonly Qualifier[] = [
  { name: 'name', about: words.qualifiers.name },
  { name: 'state', about: words.qualifiers.state, values: states },
  { name: 'job', about: words.qualifiers.job },
  { name: 'source', about: words.qualifiers.source },
  { name: 'next', about: words.qualifiers.next, values: ['<1h', '<6h', '<1d'] },
  { name: 'order', about: words.qualifiers.order, values: orders },
]

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a filter. Words without a qualifier are parts of the name. */
export function readFilter(text: string): TriggerFilter {
  const query: { -readonly [Key in keyof Query]: Query[Key] } = {}
  const search: string[] = []
  let withinMs: number | undefined
  let error: string | undefined
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const at = word.indexOf(':')
    const name = word.slice(0, Math.max(0, at))
    // A name may have a colon of its own: only a known qualifier is one.
    const isQualifier = qualifiers.some((one) => one.name === name)
    const value = isQualifier ? word.slice(at + 1) : word
    if (!isQualifier || name === 'name') search.push(value.replace(/^~/, ''))
    else if (name === 'job') query.job = value
    else if (name === 'source') query.source = value
    else if (name === 'state') {
      const found = states.find((one) => one === value)
      if (found === undefined) error ??= words.wrong(word, states)
      else query.state = found
    } else if (name === 'order') {
      const found = orders.find((one) => one === value)
      if (found === undefined) error ??= words.wrong(word, orders)
      else query.order = found
    } else {
      const [, count, unit] = /^<(\d{1,4})([smhd])$/.exec(value) ?? []
      if (count === undefined || unit === undefined) error ??= words.wrong(word, ['<30m', '<1h', '<1d'])
      else withinMs = Number(count) * (unitMs[unit] ?? 0)
    }
  }
  if (search.length > 1) error ??= words.oneName(search.join(' '))
  if (search[0] !== undefined && search[0] !== '') query.search = search[0]
  if (withinMs !== undefined) query.order = 'next'
  return { query, withinMs, error }
}
