import { sync } from '../../engine/sync.js'
import { commandJobOf } from '../../model/command-job.js'
import { executionOf } from '../../model/command-job-state.js'
import { RotaError, type Fault } from '../../model/errors.js'
import type { StoredTrigger, Trigger } from '../../model/trigger.js'
import { formatJobLine, isTorn, markExecuted, type JobLine } from '../../plan/job-lines.js'
import type { Store } from '../../store/store.js'
import type { Instant } from '../../time/instant.js'
import type { JobsFile, JobsText } from './jobs-file.js'
import { shellCommand } from './performers.js'
import { endInStore, executedNotes, noteExecuted, statusesOf, triggersOf } from './store-jobs.js'

/** A jobs file and the source under which its jobs are in the store. */
export interface JobsPlace {
  readonly file: JobsFile
  readonly source: string
}

/** What a look at a jobs file came to. */
export interface Synced {
  readonly version: string
  /** One-shots that are not executed yet. */
  readonly open: ReadonlySet<string>
  /** What is wrong with it, in one error; absent where nothing is. */
  readonly error: RotaError | undefined
  /** Whether it has to be looked at again soon: somebody may still be writing it. */
  readonly isUnsettled: boolean
}

/** A last line that was not ended may still be being written for this long. */
const writingMs = 60_000

/** What is gone from the file counts as removed once the file has been left alone for this long: programs that write it in place leave it empty for a moment. */
const settleMs = 10_000

/** Makes the store's jobs of a file equal to its lines, and marks in the file what was executed. The file must be held. */
export async function syncJobsFile(store: Store, place: JobsPlace, now: Instant): Promise<Synced> {
  const { file, source } = place
  const text = await readOrRestore(store, place)
  const ageMs = now - (text.modifiedAt ?? 0)
  const torn = isTorn(text.lines) && ageMs < writingMs
  const isSettled = text.modifiedAt === undefined || (ageMs >= settleMs && !torn)
  const stored = await store.triggers({ source })
  const conflicts = await writeJobs(store, { place, text, stored, now, isSettled })
  const marked = torn ? [] : await markLines(store, { file, text })
  const shown = torn ? text.lines.slice(0, -1) : text.lines
  if (!torn) await file.quarantine(text.lines)
  return {
    // What was written since is not what was read: somebody else may have written right behind it.
    version: marked.length > 0 ? 'unread' : text.version,
    open: openOneShots(text, marked),
    error: faultsOf(file, shown, conflicts),
    isUnsettled: !isSettled,
  }
}

/** A file that is gone is written again: it may have been lost, and an empty one says as well that there are no jobs. */
async function readOrRestore(store: Store, { file, source }: JobsPlace): Promise<JobsText> {
  const text = await file.read()
  if (text.modifiedAt !== undefined) return text
  const known = (await store.triggers({ source })).filter((one) => one.active)
  if (known.length === 0) return text
  const lines = (await statusesOf(store, known)).map(({ job, execution }) => formatJobLine(job, execution))
  await file.append(lines)
  return await file.read()
}

interface Look {
  readonly place: JobsPlace
  readonly text: JobsText
  readonly stored: readonly StoredTrigger[]
  readonly now: Instant
  readonly isSettled: boolean
}

type Line = JobLine & { readonly kind: 'job' }

function jobLines({ lines }: JobsText): Line[] {
  return lines.flatMap((line) => (line.kind === 'job' ? [line] : []))
}

/** Writes what the lines say; ids that somebody else has come back as conflicts. */
async function writeJobs(store: Store, look: Look): Promise<readonly Conflict[]> {
  const { text, stored, now, isSettled } = look
  const { source } = look.place
  const all = jobLines(text)
  const conflicts = await conflictsOf(store, all, source)
  const lines = all.filter((line) => !conflicts.some((one) => one.line === line))
  const active = new Map(stored.filter((one) => one.active).map((one) => [one.trigger.name, one]))
  const notes = await executedNotes(store, [...active.keys()])
  const isExecutedHere = (line: Line): boolean => {
    const one = active.get(line.job.id)
    return one !== undefined && executionOf(one, notes.get(line.job.id)) !== undefined
  }
  const isShell = ({ job }: Line): boolean => {
    const known = active.get(job.id)?.trigger
    return known?.job === shellCommand && commandJobOf(known).command === job.command
  }
  const computed = await triggersOf(
    store,
    lines.map((line) => ({ ...line, isShell: isShell(line) })),
    now,
  )
  // What was executed keeps the trigger that executed it, whatever the mark in its line.
  const triggers = lines.map((line, index) =>
    line.executed !== undefined && isExecutedHere(line)
      ? (active.get(line.job.id) as StoredTrigger).trigger
      : (computed[index] as Trigger),
  )
  const elsewhere = lines.filter((line) => line.executed !== undefined && !isExecutedHere(line))
  const named = new Set(all.map((line) => line.job.id))
  const vanished = [...active.keys()].filter((id) => !named.has(id))
  // One that another program has executed meanwhile is not to be executed here as well.
  const overtaken = elsewhere
    .map((line) => line.job.id)
    .filter((id) => active.get(id)?.trigger.enabled === true)
  await endInStore(store, { source, now, ids: [...(isSettled ? vanished : []), ...overtaken] })
  const kept = isSettled ? [] : vanished.map((id) => (active.get(id) as StoredTrigger).trigger)
  await sync(store, { name: source, jobs: [], queues: [], triggers: [...triggers, ...kept] }, now)
  const byName = new Map(triggers.map((trigger) => [trigger.name, trigger]))
  await noteExecuted(store, {
    jobs: elsewhere,
    triggers: elsewhere.map((line) => byName.get(line.job.id) as Trigger),
    now,
  })
  return conflicts
}

interface Conflict {
  readonly line: Line
  readonly source: string
}

async function conflictsOf(store: Store, lines: readonly Line[], source: string): Promise<Conflict[]> {
  const names = lines.map((line) => line.job.id)
  const others = (await store.triggers({ names })).filter((one) => one.active && one.source !== source)
  const owners = new Map(others.map((one) => [one.trigger.name, one.source]))
  return lines.flatMap((line) => {
    const owner = owners.get(line.job.id)
    return owner === undefined ? [] : [{ line, source: owner }]
  })
}

/** Marks lines whose job was executed; the others keep their bytes. Where somebody has written meanwhile, the next look does it. */
async function markLines(
  store: Store,
  { file, text }: { file: JobsFile; text: JobsText },
): Promise<readonly string[]> {
  const open = jobLines(text).filter(
    (line) => line.job.when.type === 'oneshot' && line.executed === undefined,
  )
  const ids = open.map((line) => line.job.id)
  if (ids.length === 0) return []
  const notes = await executedNotes(store, ids)
  const stored = new Map((await store.triggers({ names: ids })).map((one) => [one.trigger.name, one]))
  const executed = new Map(
    ids.flatMap((id) => {
      const one = stored.get(id)
      const execution = one === undefined ? undefined : executionOf(one, notes.get(id))
      return execution === undefined ? [] : [[id, execution] as const]
    }),
  )
  if (executed.size === 0) return []
  const bytes = text.lines.map((line) => {
    const execution = line.kind === 'job' ? executed.get(line.job.id) : undefined
    return execution === undefined ? line.bytes : markExecuted(line.bytes, execution.at)
  })
  return (await file.replace(bytes, text)) === 'replaced' ? [...executed.keys()] : []
}

function openOneShots(text: JobsText, marked: readonly string[]): ReadonlySet<string> {
  const open = jobLines(text).filter(
    (line) => line.job.when.type === 'oneshot' && line.executed === undefined,
  )
  return new Set(open.map((line) => line.job.id).filter((id) => !marked.includes(id)))
}

function faultsOf(
  file: JobsFile,
  lines: readonly JobLine[],
  conflicts: readonly Conflict[],
): RotaError | undefined {
  const faults: Fault[] = lines.flatMap((line) =>
    line.kind !== 'faulty'
      ? []
      : line.faults.map(({ column, path, message, allowed }) => ({
          path: path === '' ? `${line.line}:${column}` : `${line.line}:${column} ${path}`,
          message,
          allowed,
        })),
  )
  for (const { line, source } of conflicts)
    faults.push({ path: `${line.line}:1 id`, message: `${line.job.id} is defined by ${source} already` })
  if (faults.length === 0) return undefined
  const list = faults.map(({ path, message, allowed }) =>
    allowed === undefined ? `  ${path}: ${message}` : `  ${path}: ${message} (allowed: ${allowed})`,
  )
  const message = `${file.path} has lines that are left alone:\n${list.join('\n')}`
  return new RotaError('JOBS_INVALID', message, { faults })
}
