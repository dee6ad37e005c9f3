import { runIdOf } from '../../kernel/identity/identity.js'
import { slotsFor } from '../../kernel/identity/occurrence.js'
import type { Job } from '../../kernel/job/job.js'
import type { NewRun } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import { at, jobNames, triggerNames } from './names.js'
import type { RandomRun } from './operation.js'
import { aJob, aTrigger } from './stage.js'

/** Creates a randomly generated run of a story. */
export function newRandomRun(
  wanted: RandomRun,
  { jobs, now, count }: { readonly jobs: readonly Job[]; readonly now: Instant; readonly count: number },
): NewRun {
  const name = at(jobNames, wanted.job)
  const job = jobs.find((one) => one.name === name) ?? aJob(name)
  const concurrencyKey = wanted.group < 2 ? `g${wanted.group}` : undefined
  const trigger =
    wanted.trigger < triggerNames.length ? aTrigger(at(triggerNames, wanted.trigger)) : undefined
  const limited = trigger === undefined ? undefined : { ...trigger, overlap: 'skip' as const }
  return {
    id: runIdOf({ at: now, parts: ['random', String(count)] }),
    job: name,
    origin: trigger === undefined ? 'enqueue' : 'manual',
    trigger: trigger?.name,
    dueAt: now,
    runAt: now + wanted.delayMs,
    priority: wanted.priority,
    slots: slotsFor({ job, trigger: limited, concurrencyKey }),
    endEffect: [undefined, 'asset', 'waking', 'once'][wanted.endEffect],
    partition: wanted.endEffect === 1 ? `p${wanted.group}` : undefined,
    ...keysOf(wanted, now),
    ...(count % 5 === 0 ? { deadlines: [lateBy(name, now)] } : {}),
  }
}

function lateBy(name: string, now: Instant): NonNullable<NewRun['deadlines']>[number] {
  return { rule: 'finished-within', of: 'job', name, deadlineAt: now + 9000, withinMs: 9000 }
}

/** The key that a run may share with others: a unique key, or the key of debounce or throttle. */
function keysOf(
  { unique, uniqueForMs }: { readonly unique: number; readonly uniqueForMs: number },
  now: Instant,
): Pick<NewRun, 'uniqueKey' | 'uniqueUntil' | 'burst'> & Partial<Pick<NewRun, 'slots'>> {
  const maxMs = uniqueForMs === 0 ? undefined : 9000
  // Another run of the key may replace it, with other slots.
  if (unique === 3)
    return { uniqueKey: 'debounce:u', burst: { kind: 'debounce', waitMs: 5000, maxMs }, slots: [] }
  if (unique === 4)
    return { uniqueKey: 'throttle:u', uniqueUntil: now + 20_000, burst: { kind: 'throttle', perMs: 20_000 } }
  const uniqueKey = unique < 3 ? `u${unique}` : undefined
  return {
    uniqueKey,
    uniqueUntil: uniqueKey === undefined || uniqueForMs === 0 ? undefined : now + uniqueForMs,
  }
}
