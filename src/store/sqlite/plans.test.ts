import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import type { Tick } from '../../kernel/tick/tick.js'
import { systemClock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { askAll } from '../conformance/questions.js'
import { aJob, aRun, aTrigger, minute, outcomes, t0 } from '../conformance/stage.js'
import { cancel } from '../sql/runs/cancel.js'
import type { RunFilter } from '../run-filter.js'
import { Database } from './database.js'
import { defineTriggers } from '../sql/planning/define.js'
import { defineJobs } from '../sql/planning/define-jobs.js'
import { due, nextTickAt } from '../sql/planning/due.js'
import { enqueue } from '../sql/runs/enqueue.js'
import { expire } from '../sql/runs/expire.js'
import { openDatabase } from './open.js'
import { countRuns, listRuns } from '../sql/runs/list-runs.js'
import { prune } from '../sql/runs/prune.js'
import { jobs } from '../sql/planning/read-definitions.js'
import { Session } from './session.js'
import { takeFacts } from '../sql/facts/take-facts.js'
import { tick } from '../sql/planning/tick.js'
import { turn } from '../sql/runs/turn.js'
import { register } from '../sql/workers.js'
import type { Driver } from '../sql/driver.js'
import { storeVerbs } from '../sql/store-verbs.js'
import { performNow } from '../sql/verb.js'

it('jobs are read again only after one of them changed, so that a tick costs the same however many there are', async () => {
  await withDriver((driver) => {
    const session = new Session(new Database(driver))
    const read = (): readonly unknown[] => {
      session.doubtCatalog()
      return performNow(jobs(session))
    }
    performNow(defineJobs(session, { source: 'api', jobs: [aJob('a')], queues: [], now: t0 }))
    const known = read()
    expect(read()).toBe(known)
    performNow(defineJobs(session, { source: 'api', jobs: [aJob('b')], queues: [], now: t0 }))
    expect(read()).toMatchObject([{ job: { name: 'a' } }, { job: { name: 'b' } }])
    performNow(takeFacts(session, [{ kind: 'job', job: aJob('c'), source: 'api' }]))
    expect(read()).toHaveLength(3)
  })
})

it('no statement of the hot path reads a whole table', async () => {
  await withDriver((driver, texts) => {
    playOnce(new Session(new Database(driver)))
    const scans = texts.flatMap((sql) =>
      plan(driver, sql)
        .filter(isScan)
        .map((step) => `${step}: ${sql}`),
    )
    expect(scans).toEqual([])
  })
})

it('no query of lists, charts and alerts reads a whole table', async () => {
  await withDriver(async (driver, texts) => {
    const session = new Session(new Database(driver))
    define(session)
    texts.length = 0
    const own: Driver = {
      read: async (verb) => performNow(verb(session)),
      commit: async (verb) => performNow(verb(session)),
    }
    await askAll(storeVerbs(own))
    expect(texts.length).toBeGreaterThan(15)
    const isWhole = (step: string): boolean =>
      /^SCAN (runs|triggers|ledger|audit|notes)\b(?! USING)/.test(step)
    const steps = texts.flatMap((sql) => plan(driver, sql).map((step) => ({ step, sql })))
    // The oldest entries, up to a limit, are read in table order.
    expect(steps.filter(({ step, sql }) => isWhole(step) && !/order by seq limit/.test(sql))).toEqual([])
    const bySource = steps.filter(
      ({ step, sql }) => / source (?:>|=) \?/.test(sql) && / triggers /.test(step),
    )
    expect(bySource.length).toBeGreaterThan(1)
    for (const { step } of bySource) expect(step).toContain('triggers_fingerprint (source')
  })
})

const relied: readonly [what: RegExp, index: string][] = [
  [/from runs where state = 1 and job = \?1 order by/, 'runs_ready (job=?)'],
  [/where state = 0 and run_at <= \?/, 'runs_delayed (run_at<?)'],
  [/state = 2 and waits_for = \?/, 'runs_blocked (waits_for=?)'],
  [/update runs set state = 4, started_at/, 'INTEGER PRIMARY KEY (rowid=?)'],
  [/update runs set state = 3/, 'INTEGER PRIMARY KEY (rowid=?)'],
  [/from workers cross join runs/, 'runs_running (worker=?)'],
  [/state >= 4 and finished_at < \?/, 'runs_ended (finished_at<?)'],
  [/next_at <= \?1\s+order by next_at/, 'triggers_due (next_at>? AND next_at<?)'],
  [/unique_key = \?2 and unique_key is not null and state < 4/, 'runs_unique_open (job=? AND unique_key=?)'],
  [
    /unique_key = \?2 and unique_until > \?3/,
    'runs_unique_until (job=? AND unique_key=? AND unique_until>?)',
  ],
  [/trigger = triggers.name and state < 4/, 'runs_unfinished (trigger=?)'],
]

it.each(relied)('the statement with %s uses %s', async (what, index) => {
  await withDriver((driver, texts) => {
    playOnce(new Session(new Database(driver)))
    const sql = texts.find((text) => what.test(text))
    expect(sql).toBeDefined()
    expect(plan(driver, sql ?? '').some((step) => step.includes(index))).toBe(true)
  })
})

it('a claim and a finish cost the same with 200,000 finished runs in history', {
  timeout: 120_000,
}, async () => {
  await withDriver(async (driver) => {
    const empty = preparedSession(driver)
    await withDriver((fullDriver) => {
      const full = preparedSession(fullDriver)
      fullDriver.exec(`insert into runs (id, job, state, priority, run_at, due_at, created_at, origin, attempt, worker,
          claimed_at, started_at, finished_at)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 200000)
        select printf('0%09d%026d', n, n), 'work', 4, 0, n, n, n, 1, 1, 1, n, n, n from numbers`)
      const ratios = Array.from({ length: 7 }, (_, round) => {
        return performMs(full, `full${round}`) / performMs(empty, `empty${round}`)
      })
      // The minimum of several rounds: other work of the machine can only make a round slower.
      expect(Math.min(...ratios)).toBeLessThan(2)
    })
  })
})

const lists: readonly [filter: RunFilter, index: string][] = [
  [{ limit: 9 }, 'sqlite_autoindex_runs_1 (id>? AND id<?)'],
  [{ limit: 9, newerThan: '0' }, 'sqlite_autoindex_runs_1 (id>? AND id<?)'],
  [{ limit: 9, job: 'work' }, 'sqlite_autoindex_runs_1 (id>? AND id<?)'],
  [{ limit: 9, state: 'failed' }, 'runs_unhappy (state=? AND id>? AND id<?)'],
  [{ limit: 9, state: 'failed', errorText: 'no' }, 'runs_unhappy (state=? AND id>? AND id<?)'],
  [{ limit: 9, state: 'failed', newerThan: '0' }, 'runs_unhappy (state=? AND id>? AND id<?)'],
  [{ limit: 9, state: 'running', labels: { a: 'b' } }, 'runs_running'],
  [{ limit: 9, worker: 'w*' }, 'runs_running'],
  [{ limit: 9, trigger: 't' }, 'runs_trigger (trigger=? AND due_at>? AND due_at<?)'],
  [{ limit: 9, trigger: 't', state: 'failed' }, 'runs_trigger (trigger=? AND due_at>? AND due_at<?)'],
]

it.each(lists)('every statement of the list %j uses %s', async (filter, index) => {
  await withDriver((driver, texts) => {
    const session = new Session(new Database(driver))
    performNow(enqueue(session, { runs: [aRun('one')], now: t0 }))
    texts.length = 0
    performNow(listRuns(session, filter))
    performNow(countRuns(session, filter))
    const steps = texts.filter((sql) => sql.includes('from runs')).map((sql) => plan(driver, sql))
    expect(steps.length).toBeGreaterThan(0)
    for (const step of steps) expect(step.join('\n')).toContain(index)
  })
})

function isScan(step: string): boolean {
  return /^SCAN (runs|triggers|versions|attempts|ledger|logs|log_use|holds|notices|gates)\b(?! USING)/.test(
    step,
  )
}

function plan(driver: DatabaseSyncInstance, sql: string): string[] {
  if (!/^\s*(select|insert|update|delete|with)/i.test(sql)) return []
  const steps = driver.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
  return steps.map(({ detail }) => detail)
}

/** A new store's driver that records every prepared statement. */
async function withDriver(
  use: (driver: DatabaseSyncInstance, texts: string[]) => void | Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
  const path = join(directory, 'rota.db')
  const options = { path, url: 'sqlite:test', durability: 'normal', create: true, readOnly: false } as const
  ;(await openDatabase({ ...options, clock: systemClock })).close()
  const driver = new DatabaseSync(path)
  const texts: string[] = []
  const recording = new Proxy(driver, {
    get(target, name: keyof DatabaseSyncInstance) {
      const value: unknown = target[name]
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (name === 'prepare' && !String(args[0]).startsWith('explain')) texts.push(String(args[0]))
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
  try {
    await use(recording, texts)
  } finally {
    driver.close()
    rmSync(directory, { recursive: true })
  }
}

const claimRequest = { jobs: ['work'], slots: 100, prefetch: 10 }

function preparedSession(driver: DatabaseSyncInstance): Session {
  const session = new Session(new Database(driver))
  performNow(
    defineJobs(session, {
      source: 'code:test',
      jobs: [aJob('work', { queue: 'few' })],
      queues: [{ name: 'few', concurrency: 1000 }],
      now: t0,
    }),
  )
  performNow(register(session, { id: 'w', host: 'here', pid: 1, version: '0', now: t0, leaseMs: minute }))
  return session
}

/** Every verb of the hot path once, with data for each of its branches. */
function playOnce(session: Session): void {
  preparedSessionOf(session)
  const slots = [{ key: 'narrow', limit: 1 }]
  const runs = [
    ...Array.from({ length: 25 }, (_, i) => aRun(`plain${i}`)),
    aRun('later', { runAt: t0 + 5 }),
    aRun('unique', { uniqueKey: 'u', uniqueUntil: t0 + 9 }),
    aRun('same', { uniqueKey: 'u' }),
    ...Array.from({ length: 3 }, (_, i) => aRun(`gated${i}`, { slots })),
  ]
  performNow(enqueue(session, { runs, now: t0 }))
  const { claims } = performNow(turn(session, { worker: 'w', now: t0, finished: [], claimRequest }))
  const finished = claims.map((claim, i) => ({
    run: claim.run,
    attempt: claim.attempt,
    outcome: i % 2 === 0 ? outcomes.done : outcomes.again(t0 + 6),
    startedAt: t0,
    endedAt: t0 + 1,
  }))
  performNow(turn(session, { worker: 'w', now: t0 + 5, finished, claimRequest }))
  performNow(cancel(session, { run: aRun('plain3').id, now: t0 + 5, reason: 'test' }))
  define(session)
  performNow(due(session, { now: t0 + minute, limit: 10 }))
  performNow(nextTickAt(session, { now: t0 }))
  performNow(tick(session, [aTick(t0 + minute)]))
  performNow(expire(session, { now: t0, deadline: t0 + 2 * minute, limit: 10 }))
  performNow(prune(session, { before: t0 + minute, limit: 10, now: t0 + minute }))
}

function preparedSessionOf(session: Session): void {
  performNow(defineJobs(session, { source: 'code:test', jobs: [aJob('work')], queues: [], now: t0 }))
  performNow(register(session, { id: 'w', host: 'here', pid: 1, version: '0', now: t0, leaseMs: minute }))
}

function define(session: Session): void {
  performNow(
    defineTriggers(session, [
      {
        name: 't',
        source: 'code:test',
        revision: 0,
        now: t0,
        trigger: aTrigger('t'),
        fingerprint: 'f',
        tzdata: '2026a',
        closing: undefined,
        cursorAt: t0,
        nextAt: t0 + minute,
        cancelPending: false,
      },
    ]),
  )
}

function aTick(now: Instant): Tick {
  const own = aRun('tick', { trigger: 't', origin: 'trigger', dueAt: now, version: 1 })
  return {
    trigger: 't',
    revision: 1,
    at: now,
    cursorAt: now,
    nextAt: now + minute,
    chainRun: undefined,
    runs: [own],
    ranges: [],
    supersede: { mode: 'terminate', by: own.id },
  }
}

/** How long it takes to record, claim and finish a hundred runs. */
function performMs(session: Session, label: string): number {
  const runs = Array.from({ length: 100 }, (_, i) => aRun(`${label}-${i}`))
  const startMs = systemClock.monotonicMs()
  session.db.run('begin immediate')
  performNow(enqueue(session, { runs, now: t0 }))
  const { claims } = performNow(turn(session, { worker: 'w', now: t0, finished: [], claimRequest }))
  const finished = claims.map(({ run, attempt }) => {
    return { run, attempt, outcome: outcomes.done, startedAt: t0, endedAt: t0 }
  })
  performNow(turn(session, { worker: 'w', now: t0, finished, claimRequest: undefined }))
  session.db.run('commit')
  expect(claims).toHaveLength(100)
  return systemClock.monotonicMs() - startMs
}
