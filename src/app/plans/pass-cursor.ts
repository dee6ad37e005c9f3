import { pipelineJob } from '../../model/pipeline.js'
import type { Tick } from '../../model/tick.js'
import type { StoredTrigger, Trigger } from '../../model/trigger.js'
import type { Store } from '../../store/store.js'
import type { Instant } from '../../time/instant.js'
import { passName, passSource } from './plan-source.js'

/** Moves the cursor of a plan's passes; whoever was there at the same time has moved it as far. */
export async function notePass(store: Store, source: string, now: Instant): Promise<void> {
  const trigger = passTrigger(source)
  const [known] = await store.triggers({ names: [trigger.name] })
  if (known === undefined) {
    const { definePipelineJob } = await import('./plans.js')
    const { define } = await import('../../engine/sync.js')
    await definePipelineJob(store, now)
    await define(store, { source: passSource, triggers: [trigger], now })
  } else if (known.cursorAt < now) await store.tick([tickTo(known, { at: now, cursorAt: now })])
}

/** The last second of the year 9999: no schedule says anything later. */
const neverAt = 253_402_300_799_000

function passTrigger(source: string): Trigger {
  return {
    name: passName(source),
    // Never performed, but a trigger has to name a job.
    job: pipelineJob,
    schedule: { kind: 'once', at: neverAt },
    payload: undefined,
    partition: undefined,
    catchUp: { mode: 'skip', maxAgeMs: undefined, maxRuns: 1, graceMs: 0 },
    overlap: 'skip',
    jitterMs: 0,
    spreadMs: 0,
    priority: undefined,
    enabled: false,
  }
}

/** A tick that only moves a cursor. */
export function tickTo(one: StoredTrigger, to: { at: Instant; cursorAt: Instant }): Tick {
  const { trigger, revision } = one
  const nothing = { nextAt: undefined, chainRun: undefined, runs: [], ranges: [], supersede: undefined }
  return { trigger: trigger.name, revision, ...to, ...nothing }
}
