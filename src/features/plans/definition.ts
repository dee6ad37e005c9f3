import { canonicalJson } from '../../kernel/identity/canonical-json.js'
import { copyJson, payloadFault } from '../../kernel/job/payload.js'
import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import type { Json } from '../../kernel/definition/json.js'
import { isMap, readOptions, timed, type Written } from '../../kernel/definition/read-value.js'
import type { Instant } from '../../time/instant.js'
import { resolveLocalTime } from '../../time/local-time.js'
import { zoneOf, type Zone } from '../../time/zone.js'
import { pathProblem } from '../../kernel/job/pipeline.js'
import { planIdsOf, type PlanIds } from './ids.js'

/** A document that says which pipelines run when. */
export interface Plan {
  /** The zone of times without an offset, and of the ids. */
  readonly timezone: string
  readonly entries: readonly PlanEntry[]
}

/** One publication of a plan. */
export interface PlanEntry extends PlanIds {
  /** As written. */
  readonly publishAt: string
  readonly dueAt: Instant
  /** As written: relative, without `..` and `|`. */
  readonly pipelinePath: string
  readonly runIdPrefix: string | undefined
  readonly params: Params | undefined
}

/** The params of a pipeline, by name. */
export type Params = Readonly<Record<string, Json>>

/** The default zone of a plan. */
export const usualPlanZone = 'Asia/Bangkok'

/** A plan as a file writes it. */
interface PlanFile {
  readonly schema_version: 'v1'
  /** The IANA zone of times without an offset; default: Asia/Bangkok. */
  readonly timezone?: string
  readonly entries: readonly EntryInFile[]
}

interface EntryInFile {
  /**
   * Such as 2026-01-05T09:00, in the zone of the plan, or 2026-01-05T09:00+07:00.
   * @pattern ^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?$
   */
  readonly publish_at: string
  /** A pipeline file, relative to the working directory, without .. and |. @minLength 1 @maxLength 1024 */
  readonly pipeline_path: string
  /** The beginning of the run's id. @pattern ^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$ */
  readonly run_id_prefix?: string
  /** The inputs of the pipeline; not part of the id. */
  readonly params?: Params
}

const planKeys: readonly (keyof PlanFile)[] = ['schema_version', 'timezone', 'entries']
const entryKeys: readonly (keyof EntryInFile)[] = ['publish_at', 'pipeline_path', 'run_id_prefix', 'params']

/** Checks a plan and reports each fault with its place; returns undefined if there is one. */
export function readPlan(value: unknown, place: Place): Plan | undefined {
  const before = place.faults.length
  const input = readOptions(value, planKeys, place)
  if (input === undefined) return undefined
  readVersion(input, place)
  const { timezone = usualPlanZone } = input
  const zone = timed(within(place, 'timezone'), () => zoneOf(timezone as string))
  const entries = readEntries(input['entries'], zone ?? zoneOf(usualPlanZone), place)
  if (place.faults.length > before || zone === undefined) return undefined
  return { timezone: zone.name, entries }
}

function readVersion({ schema_version: version }: Written, place: Place): void {
  if (version === 'v1') return
  if (version === undefined) fault(place, 'schema_version is missing', 'schema_version: "v1"')
  else fault(within(place, 'schema_version'), `${shown(version)} is not a version of plans`, '"v1"')
}

const entriesAllowed = 'a list, which may be empty'

function readEntries(entries: unknown, zone: Zone, plan: Place): PlanEntry[] {
  const place = within(plan, 'entries')
  if (entries === undefined) fault(plan, 'entries are missing', entriesAllowed)
  else if (!Array.isArray(entries)) {
    fault(place, `a list was expected, not ${shown(entries)}`, entriesAllowed)
  }
  if (!Array.isArray(entries)) return []
  const seen = new Map<string, { readonly other: PlanEntry; readonly index: number }>()
  return entries.flatMap((written: unknown, index) => {
    const at = within(place, index)
    const entry = readEntry(written, zone, at)
    if (entry === undefined) return []
    const twin = seen.get(entry.jobId)
    if (twin === undefined) seen.set(entry.jobId, { other: entry, index })
    else refuseTwice({ entry, ...twin }, at)
    return [entry]
  })
}

/** Two entries with one id would be one run, and the second would be lost silently. */
function refuseTwice(
  { entry, other, index }: { entry: PlanEntry; other: PlanEntry; index: number },
  place: Place,
): void {
  const same = canonicalJson(entry.params ?? null) === canonicalJson(other.params ?? null)
  const what = same
    ? `it is written twice: entries[${index}] is the same`
    : `entries[${index}] has the same id ${entry.jobId} but other params`
  fault(place, what, 'another publish_at, pipeline_path or run_id_prefix')
}

function readEntry(value: unknown, zone: Zone, place: Place): PlanEntry | undefined {
  const before = place.faults.length
  const input = readOptions(value, entryKeys, place)
  if (input === undefined) return undefined
  const dueAt = readPublishAt(input, zone, place)
  const pipelinePath = readPipelinePath(input, place)
  const prefix = readPrefix(input['run_id_prefix'], within(place, 'run_id_prefix'))
  const params = readParams(input['params'], within(place, 'params'))
  if (place.faults.length > before || dueAt === undefined || pipelinePath === undefined) return undefined
  return {
    publishAt: input['publish_at'] as string,
    dueAt,
    pipelinePath,
    runIdPrefix: prefix,
    params,
    ...planIdsOf({ dueAt, pipelinePath, prefix, zone }),
  }
}

const timeAllowed = 'YYYY-MM-DDTHH:MM[:SS] with or without Z or an offset such as +07:00'
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?$/
/** The year 10000: ids and file names end before it. */
const endOfTime = 253_402_300_800_000

function readPublishAt(input: Written, zone: Zone, entry: Place): Instant | undefined {
  const value = input['publish_at']
  if (value === undefined) return fault(entry, 'publish_at is missing', timeAllowed)
  const place = within(entry, 'publish_at')
  if (typeof value !== 'string') return fault(place, `${shown(value)} is not a time`, timeAllowed)
  const at = timed(place, () => resolveLocalTime(value, zone.name))
  if (at === undefined) return undefined
  // The parser of times accepts more than other programs that read the same plan.
  if (!timePattern.test(value)) return fault(place, `${shown(value)} is written differently`, timeAllowed)
  return at >= 0 && at < endOfTime ? at : fault(place, 'it is outside the years 1970 to 9999')
}

const pathAllowed = 'a relative path with neither .. nor | in it, of at most 1024 bytes'

function readPipelinePath(input: Written, entry: Place): string | undefined {
  const value = input['pipeline_path']
  if (value === undefined) return fault(entry, 'pipeline_path is missing', pathAllowed)
  const place = within(entry, 'pipeline_path')
  if (typeof value !== 'string') return fault(place, `${shown(value)} is not a path`, pathAllowed)
  const problem = pathProblem(value)
  return problem === undefined ? value : fault(place, `${shown(value)} ${problem}`, pathAllowed)
}

const prefixPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

function readPrefix(value: unknown, place: Place): string | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string' && prefixPattern.test(value)) return value
  return fault(
    place,
    `${shown(value)} is not a prefix`,
    '1 to 64 of the characters A-Z a-z 0-9 . _ -, beginning with a letter or digit',
  )
}

function readParams(value: unknown, place: Place): Params | undefined {
  if (value === undefined) return undefined
  if (!isMap(value)) return fault(place, `a map was expected, not ${shown(value)}`, 'names with JSON values')
  const problem = payloadFault(value)
  return problem === undefined ? (copyJson(value) as Params) : fault(place, problem.message, problem.allowed)
}
