import { resolve } from 'node:path'
import { definePipelineJob } from '../../engine/sync/pipeline-job.js'
import { sync, type SyncReport } from '../../engine/sync/sync.js'
import { canonicalJson } from '../../kernel/identity/canonical-json.js'
import { defineTrigger } from '../../kernel/trigger/define-trigger.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Job } from '../../kernel/job/job.js'
import { planTriggerName } from '../../kernel/identity/occurrence.js'
import { pipelineJob } from '../../kernel/job/pipeline.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'
import type { PlanEntry } from './definition.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { planSourceName, realFile } from './source.js'
import { isRecorded, refuseOtherParams, wasEnqueued, type EntryKey } from './same-params.js'
import { timedKinds } from '../../engine/timed/kinds.js'

/** How long after its due instant an entry is still performed; older ones are recorded as missed. */
export const planLookBackMs = 86_400_000

/** The definitions of a plan, which is a source of its own. */
export interface PlanSource {
  /** `plan:` and the path from the app's directory. */
  readonly name: string
  readonly triggers: readonly Trigger[]
  /** The pipelines of entries that may still be performed. */
  readonly pipelines: readonly string[]
}

/** Reads plans and makes their triggers; an entry uses the job of the app that has the same pipeline file, if any. */
export async function planSources(
  paths: readonly string[],
  app: { readonly directory: string; readonly jobs: readonly Job[]; readonly now: Instant },
): Promise<readonly PlanSource[]> {
  const { directory, now } = app
  const own = new Map(
    app.jobs.flatMap(({ name, handler }) =>
      handler.kind === 'pipeline' && handler.path !== undefined
        ? [[resolve(directory, handler.path), name] as const]
        : [],
    ),
  )
  const byFile = new Map(paths.map((path) => [realFile(resolve(directory, path)), resolve(directory, path)]))
  return await Promise.all(
    [...byFile.values()].map(async (path) => {
      // Loaded with the first plan, so that other apps start without the parser.
      const { loadPlan } = await import('./file.js')
      const { entries } = await loadPlan(path)
      const open = entries.filter((entry) => entry.dueAt >= now - planLookBackMs)
      return {
        name: planSourceName(path, directory),
        triggers: entries.map((entry) =>
          planTrigger(entry, own.get(resolve(directory, entry.pipelinePath)) ?? pipelineJob),
        ),
        pipelines: [...new Set(open.map((entry) => entry.pipelinePath))],
      }
    }),
  )
}

/** The trigger of an entry, which is due once. Its name is the id of the entry, so that an entry never becomes two runs. */
export function planTrigger(entry: PlanEntry, job: string): Trigger {
  const { jobId, runId, runIdBase, dueAt, pipelinePath, params = {} } = entry
  return defineTrigger(planTriggerName(jobId), {
    job,
    at: new Date(dueAt),
    payload: { pipeline_path: pipelinePath, params },
    catchUp: { mode: 'latest', maxAge: planLookBackMs },
    labels: { job_id: jobId, run_id: runId, run_id_base: runIdBase },
  })
}

/** Makes the triggers in the store equal to those of the plans: entries that were removed from a plan end. */
export async function syncPlans(
  store: Store,
  plans: readonly PlanSource[],
  now: Instant,
): Promise<readonly SyncReport[]> {
  const reports: SyncReport[] = []
  if (plans.length > 0) await definePipelineJob(store, now)
  let open = plans
  // An entry that moved to another plan is free only after its old plan is synced, hence a second pass.
  for (let pass = 0; pass < 2 && open.length > 0; pass++) {
    const again: PlanSource[] = []
    for (const plan of open) {
      const held = await heldByOthers(store, plan)
      if (held.size > 0) again.push(plan)
      const triggers = plan.triggers.filter(({ name }) => !held.has(name))
      reports.push(
        await sync(store, { name: plan.name, jobs: [], queues: [], triggers }, { kinds: timedKinds, now }),
      )
    }
    open = again
  }
  return reports
}

/** The entries that another plan contains and keeps; with other params they are a conflict. */
async function heldByOthers(store: Store, plan: PlanSource): Promise<ReadonlySet<string>> {
  const byName = new Map(plan.triggers.map((trigger) => [trigger.name, trigger]))
  const held = new Set<string>()
  const changed: EntryKey[] = []
  for (const stored of await store.triggers({ names: [...byName.keys()] })) {
    const { trigger, source, active } = stored
    const own = byName.get(trigger.name)?.payload ?? null
    const key = keyOf(trigger)
    const isOther = active && source !== plan.name && source.startsWith('plan:')
    if (!isOther && !isRecorded(stored, key)) continue
    const isSame = canonicalJson(own) === canonicalJson(trigger.payload ?? null)
    if (!isSame && isRecorded(stored, key)) {
      if (await wasEnqueued(store, key, trigger.name)) changed.push(key)
    } else if (!isSame) {
      const id = trigger.labels?.['run_id'] ?? trigger.name
      throw new RotaError(
        'DEFINITION_CONFLICT',
        `${plan.name} and ${source} have ${id} with different params`,
      )
    }
    if (isOther) held.add(trigger.name)
  }
  refuseOtherParams(plan.name.slice('plan:'.length), changed)
  return held
}

function keyOf({ name, schedule, labels }: Trigger): EntryKey {
  const { job_id: jobId = '', run_id: runId = name } = labels ?? {}
  return { jobId, runId, dueAt: schedule.kind === 'once' ? schedule.at : Infinity }
}
