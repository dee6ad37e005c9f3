// Creates triggers and a history, as a store has them after a while.
import { DatabaseSync } from '@photostructure/sqlite'
import { jobDefaults } from '../dist/kernel/job/job.js'

const source = 'code:bench'

/** The name of one of them. */
export function nameOf(i) {
  return `trigger-${String(i).padStart(6, '0')}`
}

/** Defines jobs and triggers: the first ones are due every `everyMs`, the others once a day; first at `nextAt`. */
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

/** SQL for the id of run number `i`: its due instant as ten digits to the base 32, then the number, so that ids sort as real ones. */
export const runIdSql = `${Array.from({ length: 10 }, (_, place) => digitSql(45 - 5 * place)).join(' || ')} || printf('%026x', i)`

function digitSql(shift) {
  return `substr('0123456789abcdefghjkmnpqrstvwxyz', ((due >> ${shift}) & 31) + 1, 1)`
}

/**
 * Puts runs of the busy triggers into a SQLite store, evenly over the time before now. Plain SQL: nothing else is fast
 * enough. One run in 97 has failed.
 */
export function fillRuns(path, { jobs, busy, runs, now, overMs }) {
  const db = new DatabaseSync(path)
  db.exec('pragma synchronous = off')
  db.exec(`begin; with recursive n(i) as (select 0 union all select i + 1 from n where i < ${runs} - 1)
    insert into runs (id, job, state, priority, run_at, due_at, attempt, claimed_at, started_at, finished_at, created_at,
      origin, trigger, version)
    select ${runIdSql}, 'job-' || (i % ${busy} % ${jobs}),
      case when i % 97 = 0 then 5 else 4 end, 0, due, due, 1, due + 5, due + 9, due + 1000 + i % 9000, due, 0,
      printf('trigger-%06d', i % ${busy}), 1
    from (select i, cast(${now - overMs} + i * ${overMs / runs} as integer) as due from n); commit`)
  db.exec('analyze')
  db.close()
}
