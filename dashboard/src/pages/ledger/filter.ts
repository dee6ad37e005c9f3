/** Filters of the ledger as text: `trigger:nightly reason:missed reason:overlap`. */
import type { LedgerReason } from '../../../../src/client/operations.js'
import { reasons } from './days.js'

/** Which ranges are listed. */
export interface LedgerFilter {
  readonly trigger: string | undefined
  readonly reasons: readonly LedgerReason[]
  /** Words that are not understood. */
  readonly unknown: readonly string[]
}

/** Reads a filter. */
export function readFilter(text: string): LedgerFilter {
  let trigger: string | undefined
  const chosen: LedgerReason[] = []
  const unknown: string[] = []
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const [, name, value] = /^(trigger|reason):(.+)$/.exec(word) ?? []
    const reason = reasons.find((one) => one === value)
    if (name === 'trigger') trigger = value
    else if (name === 'reason' && reason !== undefined) chosen.push(reason)
    else unknown.push(word)
  }
  return { trigger, reasons: chosen, unknown }
}
