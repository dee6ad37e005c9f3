import type { PlanEntry } from './definition.js'
import { loadPlan } from './file.js'
import type { Instant } from '../../time/instant.js'
import { formatLocal } from '../../time/local-time.js'
import { zoneOf } from '../../time/zone.js'
import { checkPipelines } from '../../handlers/pipeline/check-pipelines.js'
import { pick } from '../../wire/to-json.js'
import { planLookBackMs } from './triggers.js'

/** A checked plan. */
export interface CheckedPlan {
  readonly timezone: string
  readonly entries: readonly CheckedEntry[]
}

/** An entry and whether it is still to come. */
export interface CheckedEntry extends PlanEntry {
  /** Its time in the zone of the plan, with the offset. */
  readonly local: string
  /** `missed`: too old for an engine to perform it. */
  readonly standing: 'missed' | 'due' | 'future'
}

/** Reads a plan and the pipelines of the entries that are not missed; throws one error with all faults of both. */
export async function checkPlan(
  path: string,
  here: { readonly directory: string; readonly now: Instant },
): Promise<CheckedPlan> {
  const { directory, now } = here
  const { timezone, entries } = await loadPlan(path)
  const zone = zoneOf(timezone)
  const checked = entries.map((entry) => ({
    ...entry,
    local: formatLocal(entry.dueAt, zone),
    standing: standingOf(entry, now),
  }))
  const open = checked.filter((entry) => entry.standing !== 'missed')
  await checkPipelines(
    open.map((entry) => entry.pipelinePath),
    // Only the app that performs the entries knows the functions.
    { directory, functions: undefined },
  )
  return { timezone, entries: checked }
}

/** An entry as `--json` and the API show it. */
export function entryView(entry: CheckedEntry) {
  return pick(entry, entryFields)
}

const entryFields = [
  'publishAt',
  'dueAt',
  'local',
  'standing',
  'pipelinePath',
  'jobId',
  'runId',
  'runIdBase',
  'params',
] as const

function standingOf({ dueAt }: PlanEntry, now: Instant): CheckedEntry['standing'] {
  if (dueAt > now) return 'future'
  return dueAt >= now - planLookBackMs ? 'due' : 'missed'
}
