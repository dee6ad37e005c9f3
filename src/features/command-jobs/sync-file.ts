import { sync } from '../../engine/sync/sync.js'
import { commandJobOf } from './definition.js'
import { faultText, RotaError } from '../../kernel/definition/errors.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'
import { isTorn, jobsIn, markExecuted, toFault, type GoodLine, type JobLine } from './lines.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { writingMs, type JobsFile, type JobsText } from './jobs-file.js'
import { shellCommand } from './performers.js'
import { timedKinds } from '../../engine/timed/kinds.js'
import { endInStore, executionsOf, linesOf, recordExecuted, withTriggers, type NewJob } from './store-jobs.js'

/** A jobs file and the source under which its jobs are in the store. */
export interface JobsPlace {
  readonly file: JobsFile
  readonly source: string
}

/** The result of syncing a jobs file. */
export interface Synced {
  readonly version: string
  /** One-shots that are not executed yet. */
  readonly open: ReadonlySet<string>
  /** All its faults as one error; undefined if there are none. */
  readonly error: RotaError | undefined
  /** Whether it must be read again soon, because somebody may still be writing it. */
  readonly isUnsettled: boolean
}

/** A missing line counts as removed when the file has not changed for this long: programs that rewrite the file leave it empty for a moment. */
const settleMs = 10_000

/** Makes the store's jobs of a file equal to its lines, and marks executed jobs in the file. The caller must hold the file. */
export async function syncJobsFile(
  store: Store,
  place: JobsPlace,
  look: {
    readonly now: Instant
    /** How long the file has been unchanged, as far as is known. */
    readonly quietMs: (text: JobsText) => number
  },
): Promise<Synced> {
  const { file } = place
  const { now } = look
  const text = await readOrRestore(store, place)
  const quietMs = look.quietMs(text)
  const isBeingWritten = isTorn(text.lines) && quietMs < writingMs
  const isSettled = quietMs >= settleMs && !isBeingWritten
  const known = await knownJobs(store, place.source)
  const { own, conflicts } = await divide(store, text, place.source)
  await writeJobs(store, { place, text, own, known, now, isSettled })
  const marked = isBeingWritten ? [] : await markLines(store, { place, text, own })
  if (!isBeingWritten) await file.quarantine(text.lines)
  return {
    // We changed the file, so it must be read again: somebody else may have written right after us.
    version: marked.length > 0 ? 'unread' : text.version,
    open: new Set(openJobs(own).filter((id) => !marked.includes(id))),
    error: faultsOf(file, isBeingWritten ? text.lines.slice(0, -1) : text.lines, conflicts),
    isUnsettled: !isSettled,
  }
}

/** The error of a jobs file, for commands that only read it: it cannot be read, or has lines that are ignored. */
export async function jobsFileTrouble(
  store: Store,
  { file, source }: JobsPlace,
  now: Instant,
): Promise<RotaError | undefined> {
  try {
    const text = await file.read()
    const isBeingWritten = isTorn(text.lines) && now - (text.modifiedAt ?? 0) < writingMs
    const { conflicts } = await divide(store, text, source)
    return faultsOf(file, isBeingWritten ? text.lines.slice(0, -1) : text.lines, conflicts)
  } catch (error) {
    if (error instanceof RotaError && error.code === 'JOBS_INVALID') return error
    throw error
  }
}

/** Writes a missing file again, because it may have been lost; to remove all jobs, a program can leave an empty file. */
export async function readOrRestore(store: Store, { file, source }: JobsPlace): Promise<JobsText> {
  const text = await file.read()
  if (text.modifiedAt !== undefined) return text
  const known = await store.triggers({ source, active: true })
  if (known.length === 0) return text
  await file.create(await linesOf(store, known))
  return await file.read()
}

/** A job of the file as the store has it. */
interface Known {
  readonly trigger: Trigger
  readonly isExecuted: boolean
}

async function knownJobs(store: Store, source: string): Promise<ReadonlyMap<string, Known>> {
  const active = await store.triggers({ source, active: true })
  const executions = await executionsOf(store, active)
  return new Map(
    active.map(({ trigger }) => [trigger.name, { trigger, isExecuted: executions.has(trigger.name) }]),
  )
}

interface Conflict {
  readonly line: GoodLine
  readonly source: string
}

/** The lines that are jobs, without those whose id another source owns, which are conflicts. */
async function divide(
  store: Store,
  { lines }: JobsText,
  source: string,
): Promise<{ own: readonly GoodLine[]; conflicts: readonly Conflict[] }> {
  const jobs = jobsIn(lines)
  const stored = await store.triggers({ names: jobs.map(({ job }) => job.id), active: true })
  const owners = new Map(
    stored.filter((one) => one.source !== source).map((one) => [one.trigger.name, one.source]),
  )
  const conflicts = jobs.flatMap((line) => {
    const owner = owners.get(line.job.id)
    return owner === undefined ? [] : [{ line, source: owner }]
  })
  return { own: jobs.filter(({ job }) => !owners.has(job.id)), conflicts }
}

/** Writes the jobs of the lines to the store. */
async function writeJobs(
  store: Store,
  look: {
    readonly place: JobsPlace
    readonly text: JobsText
    readonly own: readonly GoodLine[]
    readonly known: ReadonlyMap<string, Known>
    readonly now: Instant
    readonly isSettled: boolean
  },
): Promise<void> {
  const { text, own, known, now, isSettled } = look
  const { source } = look.place
  const jobs = await withTriggers(
    store,
    own.map((line) => ({ ...line, isShell: isShell(line, known) })),
    now,
  )
  const isDone = ({ job }: NewJob): boolean => known.get(job.id)?.isExecuted === true
  const elsewhere = jobs.filter((one) => one.executed !== undefined && !isDone(one))
  // An executed job keeps its trigger, whatever the mark in its line is.
  const wanted = jobs.map((one) => {
    const before = one.executed !== undefined && isDone(one) ? known.get(one.job.id) : undefined
    return before?.trigger ?? one.trigger
  })
  const { kept, gone } = absent(text, known, isSettled)
  // A job that another program has executed meanwhile must not be executed here too.
  const overtaken = elsewhere.map(({ job }) => job.id).filter((id) => known.get(id)?.trigger.enabled === true)
  await endInStore(store, { source, now, ids: [...gone, ...overtaken] })
  await sync(
    store,
    { name: source, jobs: [], queues: [], triggers: [...wanted, ...kept] },
    { kinds: timedKinds, now },
  )
  await recordExecuted(store, elsewhere, now)
}

/** Only the store knows that a command is for a shell. */
function isShell({ job }: GoodLine, known: ReadonlyMap<string, Known>): boolean {
  const trigger = known.get(job.id)?.trigger
  return trigger?.job === shellCommand && commandJobOf(trigger).command === job.command
}

/** Known jobs without a valid line: a job whose line has a fault stays unchanged, the others are removed when the file has settled. */
function absent(
  { lines }: JobsText,
  known: ReadonlyMap<string, Known>,
  isSettled: boolean,
): { kept: readonly Trigger[]; gone: readonly string[] } {
  const good = new Set(jobsIn(lines).map(({ job }) => job.id))
  const faulty = new Set(lines.flatMap((line) => (line.kind === 'faulty' ? (line.id ?? []) : [])))
  const missing = [...known.values()].map(({ trigger }) => trigger).filter(({ name }) => !good.has(name))
  return {
    kept: missing.filter(({ name }) => !isSettled || faulty.has(name)),
    gone: missing.flatMap(({ name }) => (isSettled && !faulty.has(name) ? [name] : [])),
  }
}

/** The one-shots that are not marked as executed. */
function openJobs(lines: readonly GoodLine[]): readonly string[] {
  return lines.flatMap(({ job, executed }) =>
    job.type === 'oneshot' && executed === undefined ? [job.id] : [],
  )
}

/** Marks lines whose job was executed; the others keep their bytes. If somebody has written meanwhile, the next sync does it. */
async function markLines(
  store: Store,
  { place, text, own }: { place: JobsPlace; text: JobsText; own: readonly GoodLine[] },
): Promise<readonly string[]> {
  const names = openJobs(own)
  const executed = await executionsOf(store, names.length === 0 ? [] : await store.triggers({ names }))
  if (executed.size === 0) return []
  const marked = new Set(own)
  const bytes = text.lines.map((line) => {
    const execution = line.kind === 'job' && marked.has(line) ? executed.get(line.job.id) : undefined
    return execution === undefined ? line.bytes : markExecuted(line.bytes, execution.at)
  })
  return (await place.file.replace(bytes, text)) === 'replaced' ? [...executed.keys()] : []
}

/** How many faults the error lists; the quarantine file has all of them. */
const mostTold = 100

function faultsOf(
  file: JobsFile,
  lines: readonly JobLine[],
  conflicts: readonly Conflict[],
): RotaError | undefined {
  const faults = lines.flatMap((line) => (line.kind === 'faulty' ? line.faults.map(toFault) : []))
  for (const { line, source } of conflicts)
    faults.push({ path: `${line.line}:1 id`, message: `${line.job.id} is already defined by ${source}` })
  if (faults.length === 0) return undefined
  const told = faults.slice(0, mostTold)
  const list = faults.map((fault) => `  ${faultText(fault)}`)
  const message = `${file.path} has lines that are ignored`
  return new RotaError('JOBS_INVALID', message, { faults: told, lines: list })
}
