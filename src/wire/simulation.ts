/** The result of a simulation, as answers show it. */
import { z } from 'zod'
import { instant, maybeInstant, name } from './fields.js'
import { ledgerReason } from './explain.js'

const count = z.number().int()

const lateness = z
  .strictObject({ p50Ms: z.number(), p99Ms: z.number(), maxMs: z.number() })
  .meta({ id: 'Lateness', description: 'How long after their due instants runs began.' })

const peak = z.strictObject({ count, at: maybeInstant }).meta({ id: 'Peak' })

/** The results of one trigger. */
const simulatedTrigger = z
  .strictObject({
    trigger: name,
    runs: count,
    failed: count,
    late: lateness,
    notRun: z.partialRecord(ledgerReason, count),
    knownRuns: count.meta({ description: 'How many runs of the history its durations come from.' }),
    pausedAt: maybeInstant.meta({ description: 'When it was paused after failures in a row.' }),
  })
  .meta({ id: 'SimulatedTrigger' })

/** An hour or a day of a simulation. */
const simulatedSpan = z
  .strictObject({ at: instant, runs: count, failed: count, maxRunning: count, maxWaiting: count })
  .meta({ id: 'SimulatedSpan' })

/** The result of a simulation. */
export const simulation = z
  .strictObject({
    fromAt: instant,
    untilAt: instant,
    seed: count,
    processes: count,
    concurrency: count,
    runs: count,
    failed: count,
    crashes: count,
    late: lateness,
    maxRunning: peak,
    maxWaiting: peak,
    busiestMinute: peak,
    used: z.number().meta({ description: 'The share of all slots that was used, from 0 to 1.' }),
    triggers: z.array(simulatedTrigger).meta({ description: 'The latest first, at most `limit`.' }),
    triggerCount: count,
    spanMs: count.meta({ description: 'How long each span is: an hour, or a day after two weeks.' }),
    spans: z.array(simulatedSpan),
    leftOut: z.array(z.strictObject({ trigger: name, why: z.string() })),
  })
  .meta({ id: 'Simulation' })
