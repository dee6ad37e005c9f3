/** Notes and seen keys as lines: the last line with a key counts, and one that says so takes it away. */
import type { Json } from '../../../kernel/definition/json.js'
import type { StateEntry, StateKey, StateKind } from '../../../kernel/state/state-entry.js'
import { formatInstant, parseInstant, type Instant } from '../../../time/instant.js'
import { dropStateEntry, forget, stateEntryAt, putStateEntry, remember } from '../../memory/state.js'
import type { Tables, Touched } from '../../memory/tables.js'

/** A line of `notes.jsonl`. */
export type StateLine = StateLineKey &
  ({ readonly revision: number; readonly at: string; readonly value: Json } | { readonly removed: true })

interface StateLineKey {
  readonly kind: StateKind
  readonly name: string
  readonly item: string
}

/** A line of `seen.jsonl`. */
export type SeenLine = { readonly trigger: string; readonly digest: string } & (
  | { readonly until_at?: string | undefined }
  | { readonly forgotten: true }
)

/** The lines for the notes that a transaction has touched. */
export function stateLinesOf({ state }: Touched): StateLine[] {
  return [...state].map(([key, entry]) => {
    if (entry !== undefined) return toStateLine(entry)
    const [kind, name, item] = JSON.parse(key) as [StateKind, string, string]
    return { kind, name, item, removed: true }
  })
}

/** The lines for what a transaction has seen and forgotten. */
export function seenLinesOf({ seen }: Touched): SeenLine[] {
  return [...seen.values()].map((key) => {
    const { trigger, digest } = key
    return 'forgotten' in key
      ? { trigger, digest, forgotten: true }
      : { trigger, digest, until_at: textOf(key.untilAt) }
  })
}

/** Every note, as it is written down. */
export function* allStateLines(tables: Tables): Iterable<StateLine> {
  for (const entry of tables.state) yield toStateLine(entry)
}

/** Everything that was seen, as it is written down. */
export function* allSeenLines(tables: Tables): Iterable<SeenLine> {
  for (const [trigger, digests] of tables.seen) {
    for (const [digest, untilAt] of digests) yield { trigger, digest, until_at: textOf(untilAt) }
  }
}

/** Takes in a line of `notes.jsonl`. */
export function readStateLine(tables: Tables, line: StateLine): void {
  const { kind, name, item } = line
  if (!('removed' in line)) {
    const { value, revision } = line
    putStateEntry(tables, { kind, name, item, value, revision, at: parseInstant(line.at) })
    return
  }
  const known = stateEntryAt(tables, line satisfies StateKey)
  if (known !== undefined) dropStateEntry(tables, known)
}

/** Takes in a line of `seen.jsonl`. */
export function takeSeenLine(tables: Tables, line: SeenLine): void {
  const { trigger, digest } = line
  if ('forgotten' in line) forget(tables, trigger, digest)
  else {
    const untilAt = line.until_at === undefined ? undefined : parseInstant(line.until_at)
    remember(tables, trigger, { digest, untilAt })
  }
}

function toStateLine({ kind, name, item, revision, at, value }: StateEntry): StateLine {
  return { kind, name, item, revision, at: formatInstant(at), value }
}

function textOf(at: Instant | undefined): string | undefined {
  return at === undefined ? undefined : formatInstant(at)
}
