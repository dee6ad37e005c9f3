/** What the audit stores of an object: a few fields, which are compared and kept small. */
import { formatInstant, type Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'
import type { Hold } from '../hold/hold.js'
import type { Job } from '../job/job.js'
import type { Run } from '../run/run.js'
import type { StoredTrigger } from '../trigger/trigger.js'
import { subjectName, type Audit, type AuditEntry } from './audit.js'

/** An object as the audit stores it; undefined if it does not exist. */
export type Snapshot = Json | undefined

/** A run: its state. */
export function runSnapshot(run: Run | undefined): Snapshot {
  if (run === undefined) return undefined
  const { id, job, trigger = null, state, runAt, attempt, failures, cancelRequested, reason = null } = run
  return { id, job, trigger, state, runAt: formatInstant(runAt), attempt, failures, cancelRequested, reason }
}

/** A trigger: its definition, without its cursor. */
export function triggerSnapshot(stored: StoredTrigger | undefined): Snapshot {
  if (stored === undefined) return undefined
  const { source, version, active, trigger } = stored
  return { source, version, active, definition: toJson(trigger) }
}

/** A job: its source and its definition. */
export function jobSnapshot(stored: { readonly job: Job; readonly source: string } | undefined): Snapshot {
  return stored === undefined ? undefined : { source: stored.source, definition: toJson(stored.job) }
}

/** The hold on a target. */
export function holdSnapshot(hold: Hold | undefined): Snapshot {
  if (hold === undefined) return undefined
  const { actor, note, fromAt, untilAt } = hold
  return { by: actor, reason: note, since: formatInstant(fromAt), until: textOf(untilAt) }
}

/** A worker: whether it drains. */
export function workerSnapshot(worker: { readonly isDraining: boolean } | undefined): Snapshot {
  return worker === undefined ? undefined : { draining: worker.isDraining }
}

/** The tag of a trigger: changes with its definition and its pause, and not with its ticks. */
export function triggerTag({ version, active }: StoredTrigger, pause: Hold | undefined): string {
  return `${version}-${active ? (pause?.id ?? 0) : 'ended'}`
}

/** The entry of a change, from the states of its subjects before and after; undefined if nothing differs. */
export function entryOf(
  { entry, subjects }: Audit,
  before: readonly Snapshot[],
  after: readonly Snapshot[],
): AuditEntry | undefined {
  if (subjects.length === 0)
    return { ...entry, before: smallJson(entry.before), after: smallJson(entry.after) }
  const changed = subjects.flatMap((subject, i) =>
    JSON.stringify(before[i]) === JSON.stringify(after[i]) ? [] : [{ name: subjectName(subject), i }],
  )
  if (changed.length === 0) return undefined
  const read = (from: readonly Snapshot[]): Json | undefined => {
    if (subjects.length === 1) return smallJson(from[0])
    return smallJson(Object.fromEntries(changed.map(({ name, i }) => [name, from[i] ?? null])))
  }
  return { ...entry, before: read(before), after: read(after) }
}

/** Joins the entries of two transactions of one change: from the state before the first to the state after the last. */
export function joinEntries(first: AuditEntry, { subjects }: Audit, next: AuditEntry): AuditEntry {
  if (subjects.length === 0) return first
  if (subjects.length === 1) return { ...first, after: next.after }
  return {
    ...first,
    before: smallJson({ ...mapOf(next.before), ...mapOf(first.before) }),
    after: smallJson({ ...mapOf(first.after), ...mapOf(next.after) }),
  }
}

function mapOf(value: Snapshot): Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {}
}

/** The most characters that an entry keeps of the state before or after. */
const mostCharacters = 4096

/** A value for an entry: without secrets, and truncated if it is long. */
export function smallJson(value: Snapshot): Json | undefined {
  if (value === undefined) return undefined
  const masked = withoutSecrets(value)
  const text = JSON.stringify(masked)
  if (text.length <= mostCharacters) return masked
  return { cut: true, characters: text.length, start: text.slice(0, mostCharacters / 2) }
}

/** Values under these keys may be secrets, at any depth. */
const secretKey =
  /^(?:env|headers|environment)$|secret|token|passw|credential|authorization|cookie|hash|(?:api|private|access)_?key/i

function withoutSecrets(value: Json): Json {
  if (typeof value === 'string') return value.replaceAll(/(\/\/[^/:@\s]*):[^/@\s]+@/g, '$1:***@')
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map(withoutSecrets)
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      secretKey.test(key) ? masked(item) : withoutSecrets(item),
    ]),
  )
}

/** Keeps the names, so that the entry shows which of them were added or removed. */
function masked(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return value === null ? null : '***'
  return Object.fromEntries(Object.keys(value).map((key) => [key, '***']))
}

function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}

function textOf(at: Instant | undefined): Json {
  return at === undefined ? null : formatInstant(at)
}
