import { pipelineJob } from '../../../kernel/job/pipeline.js'
import { isMap } from '../../../kernel/definition/read-value.js'
import { planTick } from '../../../kernel/tick/tick.js'
import type { DueTrigger, Trigger } from '../../../kernel/trigger/trigger.js'
import type { Store } from '../../../store/port.js'
import type { Instant } from '../../../time/instant.js'
import { isPass, passName, passSource } from '../source.js'
import { timedKinds } from '../../../engine/timed/kinds.js'

/** The plan of a pass: its source, and its file with links resolved. */
export interface PassedPlan {
  readonly source: string
  readonly planFile?: string | undefined
}

/** When the last pass over a plan was, under any spelling of its path; undefined if there was none. */
export async function lastPassAt(
  store: Store,
  { source, planFile }: PassedPlan,
): Promise<Instant | undefined> {
  const name = passName(source)
  const passes = (await store.triggers({ source: passSource, active: true })).filter(isPass)
  const own = passes.filter(
    ({ trigger }) => trigger.name === name || (planFile !== undefined && fileOf(trigger) === planFile),
  )
  return own.length === 0 ? undefined : Math.max(...own.map(({ cursorAt }) => cursorAt))
}

/** Moves the cursor of a plan's passes. A concurrent pass may have moved it as far. */
export async function notePass(store: Store, pass: PassedPlan & { readonly now: Instant }): Promise<void> {
  const { now } = pass
  const trigger = passTrigger(pass)
  const [known] = await store.dueByName({ names: [trigger.name], now })
  const isKnown = known !== undefined && fileOf(known.trigger) === fileOf(trigger)
  const current = isKnown ? known : await definePass(store, trigger, now)
  if (current !== undefined && current.cursorAt < now) await store.tick([planTick(current, now)])
}

async function definePass(store: Store, trigger: Trigger, now: Instant): Promise<DueTrigger | undefined> {
  const { definePipelineJob } = await import('../../../engine/sync/pipeline-job.js')
  const { define } = await import('../../../engine/sync/sync.js')
  await definePipelineJob(store, now)
  await define(store, { kinds: timedKinds, source: passSource, triggers: [trigger], now })
  return (await store.dueByName({ names: [trigger.name], now }))[0]
}

/** The file of the plan when the pass was made. */
function fileOf({ payload }: Trigger): string | undefined {
  return isMap(payload) && typeof payload['file'] === 'string' ? payload['file'] : undefined
}

/** The last second of the year 9999, after which nothing is ever due. */
const neverAt = 253_402_300_799_000

function passTrigger({ source, planFile }: PassedPlan): Trigger {
  return {
    name: passName(source),
    // Never performed, but a trigger must name a job.
    job: pipelineJob,
    schedule: { kind: 'once', at: neverAt },
    payload: planFile === undefined ? undefined : { file: planFile },
    partition: undefined,
    catchUp: { mode: 'skip', maxAgeMs: undefined, maxRuns: 1, graceMs: 0 },
    overlap: 'skip',
    jitterMs: 0,
    spreadMs: 0,
    priority: undefined,
    enabled: false,
  }
}
