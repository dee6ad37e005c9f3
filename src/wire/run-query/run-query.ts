/**
 * The one reader of filters of runs: `state:failed job:mail error:ECONN* label.customer:42 due:today late:>1m`. The
 * command line and the API use it; the dashboard asks the API.
 */
import { nearest } from '../../kernel/definition/read-value.js'
import { mostLabels, type RunConditions } from '../../store/run-conditions.js'
import { quotedText } from '../../text/error-text.js'
import type { Here } from '../../time/moment.js'
import { faultIn, labelPrefix, qualifierOf, qualifiers, type Qualifier } from './qualifiers.js'
import { splitTerms, type QueryFault, type Term } from './terms.js'

/** The conditions of a query, and all its faults. */
export interface RunQuery {
  readonly conditions: RunConditions
  readonly faults: readonly QueryFault[]
}

/** Reads a query. */
export function parseRunQuery(text: string, here: Here): RunQuery {
  const { terms, faults } = splitTerms(text)
  return readTerms(terms, here, faults)
}

/** Reads separate terms, such as options of a command line or parts of a URL. */
export function readTerms(terms: readonly Term[], here: Here, before: readonly QueryFault[] = []): RunQuery {
  const faults = [...before]
  const read = new Map<string, readonly string[]>()
  let conditions: RunConditions = {}
  const words: string[] = []
  for (const term of terms) {
    const { name, items, from, to } = term
    if (name === undefined) {
      words.push(...items)
      continue
    }
    const qualifier = qualifierOf(name)
    if (qualifier === undefined) {
      faults.push(unknown(term, name))
      continue
    }
    const earlier = read.get(name)
    if (earlier !== undefined && qualifier.isList !== true) {
      faults.push({ from, to, message: `${name} is given twice` })
      continue
    }
    const all = [...(earlier ?? []), ...items]
    read.set(name, all)
    conditions = both(conditions, valueOf(term, { qualifier, items: all, here, faults }))
  }
  if (words.length > 0 && conditions.errorText === undefined)
    conditions = { ...conditions, errorText: words.join(' ') }
  const labels = Object.keys(conditions.labels ?? {}).length
  if (labels > mostLabels)
    faults.push({
      from: 0,
      to: 0,
      message: `the filter has ${labels} labels`,
      allowed: `at most ${mostLabels}`,
    })
  return { conditions, faults }
}

interface Reading {
  readonly qualifier: Qualifier
  readonly items: readonly string[]
  readonly here: Here
  readonly faults: QueryFault[]
}

/** Combines conditions that must all match. */
function both(one: RunConditions, other: RunConditions): RunConditions {
  const { sinceAt = one.sinceAt, untilAt = one.untilAt, labels } = other
  return {
    ...one,
    ...other,
    ...(sinceAt === undefined ? {} : { sinceAt: Math.max(sinceAt, one.sinceAt ?? sinceAt) }),
    ...(untilAt === undefined ? {} : { untilAt: Math.min(untilAt, one.untilAt ?? untilAt) }),
    ...(labels === undefined ? {} : { labels: { ...one.labels, ...labels } }),
  }
}

function valueOf({ from, to, valueFrom }: Term, reading: Reading): RunConditions {
  const { qualifier, items, here, faults } = reading
  const { name, choices, example } = qualifier
  const place = { from: Math.min(valueFrom, to), to }
  const message = faultIn(qualifier, items)
  if (message !== undefined) {
    const allowed = choices?.join(', ') ?? `a value such as ${name}:${example}`
    faults.push({ ...place, message: `${name}: ${message}`, allowed })
    return {}
  }
  try {
    return qualifier.read(items, here)
  } catch (error) {
    const { message: why, allowed } = error as Error & { allowed?: string }
    faults.push({ from, to, message: `${name}: ${why}`, allowed })
    return {}
  }
}

function unknown({ from, to }: Term, name: string): QueryFault {
  const names = [...qualifiers.map((one) => one.name), `${labelPrefix}name`]
  const meant = nearest(name, names)
  const hint = meant === undefined ? '; text to search for goes in quotes' : ` (did you mean ${meant}?)`
  return {
    from,
    to,
    message: `${quotedText(name)} is not a name of a filter${hint}`,
    allowed: names.join(', '),
  }
}
