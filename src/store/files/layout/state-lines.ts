/** State entries and seen keys as lines: the last line with a key is current, and may remove the key. */
import type { Json } from '../../../kernel/definition/json.js'
import type { StateEntry, StateKey, StateKind } from '../../../kernel/state/state-entry.js'
import { formatInstant, parseInstant } from '../../../time/instant.js'
import { dropStateEntry, forget, stateEntryAt, putStateEntry, remember } from '../../memory/state.js'
import type { Tables, Touched } from '../../memory/tables.js'
import { instantOf, textOf } from './row-format.js'

/** A line of `notes.jsonl`. */
export type StateLine = StateKey &
  ({ readonly revision: number; readonly at: string; readonly value: Json } | { readonly removed: true })

/** A line of `seen.jsonl`. */
export type SeenLine = { readonly trigger: string; readonly digest: string } & (
  | { readonly until_at?: string | undefined }
  | { readonly forgotten: true }
)

/** The lines for the state entries that a transaction changed. */
export function stateLinesOf({ state }: Touched): StateLine[] {
  return [...state].map(([key, entry]) => {
    if (entry !== undefined) return toStateLine(entry)
    const [kind, name, item] = JSON.parse(key) as [StateKind, string, string]
    return { kind, name, item, removed: true }
  })
}

/** The lines for the digests that a transaction remembered or forgot. */
export function seenLinesOf({ seen }: Touched): SeenLine[] {
  return [...seen.values()].map((key) => {
    const { trigger, digest } = key
    return 'forgotten' in key
      ? { trigger, digest, forgotten: true }
      : { trigger, digest, until_at: textOf(key.untilAt) }
  })
}

/** All state entries as lines. */
export function* allStateLines(tables: Tables): Iterable<StateLine> {
  for (const entry of tables.state) yield toStateLine(entry)
}

/** All remembered digests as lines. */
export function* allSeenLines(tables: Tables): Iterable<SeenLine> {
  for (const [trigger, digests] of tables.seen) {
    for (const [digest, untilAt] of digests) yield { trigger, digest, until_at: textOf(untilAt) }
  }
}

/** Applies a line of `notes.jsonl`. */
export function applyStateLine(tables: Tables, line: StateLine): void {
  const { kind, name, item } = line
  if (!('removed' in line)) {
    const { value, revision } = line
    putStateEntry(tables, { kind, name, item, value, revision, at: parseInstant(line.at) })
    return
  }
  const known = stateEntryAt(tables, line)
  if (known !== undefined) dropStateEntry(tables, known)
}

/** Applies a line of `seen.jsonl`. */
export function applySeenLine(tables: Tables, line: SeenLine): void {
  const { trigger, digest } = line
  if ('forgotten' in line) forget(tables, trigger, digest)
  else remember(tables, trigger, { digest, untilAt: instantOf(line.until_at) })
}

function toStateLine({ kind, name, item, revision, at, value }: StateEntry): StateLine {
  return { kind, name, item, revision, at: formatInstant(at), value }
}
