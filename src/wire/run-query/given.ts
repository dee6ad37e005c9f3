import type { Fault } from '../../kernel/definition/errors.js'
import type { RunConditions } from '../../store/run-conditions.js'
import type { Here } from '../../time/moment.js'
import { labelPrefix, qualifierOf } from './qualifiers.js'
import { parseRunQuery, readTerms } from './run-query.js'
import { splitTerms, type Term } from './terms.js'

/** A condition from an option or a part of a URL: the name of its qualifier, and the text of its value. */
export interface GivenCondition {
  readonly name: string
  readonly text: string
  /** Its name in faults: `--state`, `query/state`. */
  readonly place: string
}

/** Reads separate conditions and an optional query; returns all conditions and all faults. */
export function readConditions(
  given: readonly GivenCondition[],
  query: { readonly text: string; readonly place: string } | undefined,
  here: Here,
): { readonly conditions: RunConditions; readonly faults: readonly Fault[] } {
  const own = given.map(termOf)
  const faults: Fault[] = own.flatMap(({ term, place }) =>
    readTerms([term], here).faults.map(({ message, allowed }) => ({
      path: place,
      message: withoutName(message, term),
      allowed,
    })),
  )
  if (query !== undefined) faults.push(...faultsIn(query, here))
  if (faults.length > 0) return { conditions: {}, faults }
  const terms = [...own.map(({ term }) => term), ...splitTerms(query?.text ?? '').terms]
  const { conditions, faults: together } = readTerms(terms, here)
  const path = query?.place ?? given[0]?.place ?? ''
  return { conditions, faults: together.map(({ message, allowed }) => ({ path, message, allowed })) }
}

function faultsIn({ text, place: path }: { text: string; place: string }, here: Here): Fault[] {
  return parseRunQuery(text, here).faults.map(({ from, message, allowed }) => ({
    path,
    message: `character ${from + 1}: ${message}`,
    allowed,
  }))
}

/** The place of an option already says its name. A label has a name of its own. */
function withoutName(message: string, { name = '' }: Term): string {
  const isSaid = !name.startsWith(labelPrefix) && message.startsWith(`${name}: `)
  return isSaid ? message.slice(name.length + 2) : message
}

/** `name=value` of a label is a separate condition. */
function termOf({ name, text, place }: GivenCondition): { term: Term; place: string } {
  const isLabel = name === 'label'
  const equals = text.indexOf('=')
  const ownName = isLabel ? labelPrefix + text.slice(0, Math.max(0, equals)) : name
  const value = isLabel ? text.slice(equals + 1) : text
  const items = qualifierOf(ownName)?.isList === true ? value.split(',') : [value]
  return { term: { name: ownName, items, from: 0, to: 0, valueFrom: 0 }, place }
}
