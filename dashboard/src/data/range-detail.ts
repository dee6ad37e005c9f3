import { words } from '../words/ledger.js'
import { printable } from './printable.js'

/** A part of the detail of a range: text, or an instant that is shown in the reader's zone. */
export type DetailPart = string | { readonly at: string }

/** What the ledger keeps beside the rule of a range, as a reader sees it. What the checks of a round found is taken apart. */
export function detailParts({
  rule,
  detail,
}: {
  readonly rule: string
  readonly detail: string | null
}): readonly DetailPart[] {
  if (detail === null || detail === '') return []
  if (!rule.startsWith('round:')) return [printable(detail)]
  if (instant.test(detail)) return [words.check.coveredBy, { at: detail }]
  const [, due, skipped] = check.exec(detail) ?? []
  if (due === undefined && skipped === undefined) return [printable(detail)]
  const left = [...(skipped ?? '').matchAll(skip)].flatMap(skipParts)
  return [
    due === undefined ? '' : words.check.due(due),
    due === undefined || left.length === 0 ? '' : ' · ',
    ...(left.length === 0 ? [] : [words.check.skipped, ...left.slice(1)]),
  ].filter((part) => part !== '')
}

const instant = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
/** Such as `due a, b; skipped c (not_due, due 2026-01-06T09:00:00Z), d (in_flight, in crawlers)`. */
const check = /^(?:due ([^;]+))?(?:; )?(?:skipped (.+))?$/
const skip = /(\S+) \((not_due|in_flight|tried|replaced)(?:, due ([^),]+))?(?:, in ([^)]+))?\)/g

/** One service that a check left out, behind a comma. */
function skipParts([, service = '', reason = '', dueAt, round]: RegExpExecArray): readonly DetailPart[] {
  if (dueAt !== undefined) return [', ', words.check.notBefore(service), { at: dueAt }, ')']
  return [', ', words.check.left(service, words.check.reasons[reason] ?? reason, round)]
}
