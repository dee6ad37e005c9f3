/** Notes and seen keys as lines: the last line with a key counts, and one that says so takes it away. */
import type { Json } from '../../../kernel/definition/json.js'
import type { Note, NoteKey, NoteKind } from '../../../kernel/state/note.js'
import { formatInstant, parseInstant, type Instant } from '../../../time/instant.js'
import { dropNote, forget, noteAt, putNote, remember } from '../../memory/notes.js'
import type { Tables, Touched } from '../../memory/tables.js'

/** A line of `notes.jsonl`. */
export type NoteLine = NoteLineKey &
  ({ readonly revision: number; readonly at: string; readonly value: Json } | { readonly removed: true })

interface NoteLineKey {
  readonly kind: NoteKind
  readonly name: string
  readonly item: string
}

/** A line of `seen.jsonl`. */
export type SeenLine = { readonly trigger: string; readonly digest: string } & (
  | { readonly until_at?: string | undefined }
  | { readonly forgotten: true }
)

/** The lines for the notes that a transaction has touched. */
export function noteLinesOf({ notes }: Touched): NoteLine[] {
  return [...notes].map(([key, note]) => {
    if (note !== undefined) return toNoteLine(note)
    const [kind, name, item] = JSON.parse(key) as [NoteKind, string, string]
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
export function* allNoteLines(tables: Tables): Iterable<NoteLine> {
  for (const note of tables.notes) yield toNoteLine(note)
}

/** Everything that was seen, as it is written down. */
export function* allSeenLines(tables: Tables): Iterable<SeenLine> {
  for (const [trigger, digests] of tables.seen) {
    for (const [digest, untilAt] of digests) yield { trigger, digest, until_at: textOf(untilAt) }
  }
}

/** Takes in a line of `notes.jsonl`. */
export function takeNoteLine(tables: Tables, line: NoteLine): void {
  const { kind, name, item } = line
  if (!('removed' in line)) {
    const { value, revision } = line
    putNote(tables, { kind, name, item, value, revision, at: parseInstant(line.at) })
    return
  }
  const known = noteAt(tables, line satisfies NoteKey)
  if (known !== undefined) dropNote(tables, known)
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

function toNoteLine({ kind, name, item, revision, at, value }: Note): NoteLine {
  return { kind, name, item, revision, at: formatInstant(at), value }
}

function textOf(at: Instant | undefined): string | undefined {
  return at === undefined ? undefined : formatInstant(at)
}
