// Triggers and a history to read from, as a store has them after a while.
import { jobDefaults } from '../dist/kernel/job/job.js'

const source = 'code:bench'

/** The name of one of them. */
export function nameOf(i) {
  return `trigger-${String(i).padStart(6, '0')}`
}

/** Defines jobs and triggers: the first ones are due every `everyMs`, the others once a day; `nextAt` says when next. */
export async function defineTriggers(store, { jobs, triggers, busy, everyMs, now, since, nextAt }) {
  const all = Array.from({ length: jobs }, (_, i) => ({ ...jobDefaults, name: `job-${i}` }))
  await store.defineJobs({ source, jobs: all, queues: [], now })
  const definition = (i) => ({
    name: nameOf(i),
    source,
    revision: 0,
    now: since,
    trigger: {
      name: nameOf(i),
      job: `job-${i % jobs}`,
      schedule:
        i < busy
          ? { kind: 'interval', everyMs, anchorAt: 0 }
          : { kind: 'cron', expression: `${i % 60} ${i % 24} * * *`, timezone: 'Europe/Berlin' },
      catchUp: { mode: 'latest', maxRuns: 1, graceMs: 60_000 },
      overlap: 'allow',
      jitterMs: 0,
      spreadMs: 0,
      enabled: true,
    },
    fingerprint: String(i),
    tzdata: '2026a',
    cursorAt: now,
    nextAt: nextAt(i),
    cancelPending: false,
  })
  for (let i = 0; i < triggers; i += 5000) {
    const length = Math.min(5000, triggers - i)
    await store.defineTriggers(Array.from({ length }, (_, offset) => definition(i + offset)))
  }
}
