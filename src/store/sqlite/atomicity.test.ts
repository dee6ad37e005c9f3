import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import type { Tick } from '../../model/tick.js'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, aTrigger, minute, outcomes, Stage, t0 } from '../conformance/stage.js'
import { openSqliteStore } from './sqlite-store.js'

/** The statements that a tick runs, one after the other: a fault stands before each of them. */
const places = [
  'update on triggers',
  'insert on runs',
  'insert on gates',
  'insert on ledger',
  'update on runs',
  'insert on notices',
  'insert on attempts',
]

it.each(places)('G2: a tick that breaks at the %s leaves nothing, and can be made again', async (place) => {
  await withStage(async (stage, db) => {
    const tick = await prepareTick(stage)
    const before = await factsOf(stage)
    db.exec(`create trigger fault before ${place} begin select raise(abort, 'broken on purpose'); end`)
    const other = stage.store.enqueue({ runs: [aRun('later', { runAt: t0 + 9 * minute })], now: t0 })
    await expect(stage.store.tick([tick])).rejects.toThrow('broken on purpose')
    if (place !== 'insert on runs') await other
    else await expect(other).rejects.toThrow('broken on purpose')
    expect(await factsOf(stage)).toEqual(before)
    db.exec('drop trigger fault')
    expect(await stage.store.tick([tick])).toEqual(['ticked'])
    expect((await stage.stored('t')).cursorAt).toBe(tick.cursorAt)
    expect(await factsOf(stage)).not.toEqual(before)
  })
})

it('G5: a turn that breaks after it stored what was finished has not stored it', async () => {
  await withStage(async (stage, db) => {
    await stage.ready()
    await stage.enqueue([aRun('a'), aRun('b')])
    const claim = await stage.claimOne('w', t0)
    const finished = [{ ...claim, outcome: outcomes.done, startedAt: t0, endedAt: t0 + 1 }]
    const request = { worker: 'w', now: t0 + 1, finished, want: { jobs: ['work'], slots: 1, ahead: 0 } }
    db.exec(`create trigger fault before update on runs when new.state = 3
      begin select raise(abort, 'broken on purpose'); end`)
    await expect(stage.store.turn(request)).rejects.toThrow('broken on purpose')
    expect((await stage.run(claim.run)).state).toBe('running')
    db.exec('drop trigger fault')
    const answer = await stage.store.turn(request)
    expect(answer.finished).toEqual(['stored'])
    expect(answer.claims.map(({ run }) => run)).toEqual([aRun('b').id])
  })
})

it('what was remembered of a rolled back transaction is forgotten with it', async () => {
  await withStage(async (stage, db) => {
    await stage.ready()
    db.exec(`create trigger fault before insert on runs when new.priority = 7
      begin select raise(abort, 'broken on purpose'); end`)
    const queues = [{ name: 'default', concurrency: 0 }]
    const answers = await Promise.allSettled([
      stage.store.enqueue({ runs: [aRun('a')], now: t0 }),
      stage.store.turn({ worker: 'w', now: t0, finished: [], want: { jobs: ['work'], slots: 1, ahead: 0 } }),
      stage.store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues, now: t0 }),
      stage.store.enqueue({ runs: [aRun('bad', { priority: 7 })], now: t0 }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
    await stage.enqueue([aRun('b')])
    expect(await stage.claim('w', t0)).toEqual([])
    expect((await stage.run(aRun('a').id)).state).toBe('running')
    const finished = [{ run: aRun('a').id, attempt: 1, outcome: outcomes.done, startedAt: t0, endedAt: t0 }]
    expect((await stage.turn('w', t0, finished)).finished).toEqual(['stored'])
  })
})

it('a stale report does not reach the run that was given the key of a pruned one', async () => {
  await withStage(async (stage) => {
    await stage.ready()
    await stage.worker('other')
    await stage.enqueue([aRun('old')])
    const old = await stage.claimOne('w', t0)
    // Decided by somebody else, as for a worker that was thought lost; this process still remembers its claim.
    const second = await stage.reopenBeside()
    const lost = { run: old.run, attempt: 1, outcome: outcomes.failed, startedAt: t0, endedAt: t0 + 1 }
    await second.turn({ worker: 'other', now: t0 + 1, finished: [lost], want: undefined })
    expect(await second.prune({ before: t0 + 2, limit: 10, now: t0 + 2 })).toBe(1)
    await second.enqueue({ runs: [aRun('new')], now: t0 + 2 })
    const want = { jobs: ['work'], slots: 1, ahead: 0 }
    const { claims } = await second.turn({ worker: 'other', now: t0 + 2, finished: [], want })
    expect(claims.map(({ run }) => run)).toEqual([aRun('new').id])
    expect(await stage.finish('w', old, { outcome: outcomes.done, at: t0 + 3 })).toBe('stale')
    expect((await stage.run(aRun('new').id)).state).toBe('running')
    await second.close()
  })
})

it('G3: texts that differ only behind a zero byte are different texts', async () => {
  await withStage(async (stage) => {
    const runs = [aRun('a', { uniqueKey: 'k\0a' }), aRun('b', { uniqueKey: 'k\0b', partition: 'p\0q' })]
    await stage.enqueue(runs)
    const line = { run: aRun('a').id, attempt: 1, at: t0, level: 'info', text: 'before\0after' } as const
    await stage.store.log([line])
    expect((await stage.run(aRun('b').id)).partition).toBe('p\u2400q')
    expect((await stage.store.logs({ run: line.run, limit: 1 }))[0]?.text).toBe('before\u2400after')
  })
})

class SqliteStage extends Stage {
  readonly #path: string

  constructor(opened: ConstructorParameters<typeof Stage>[0], path: string) {
    super(opened)
    this.#path = path
  }

  /** Another process on the same file. */
  reopenBeside() {
    return openSqliteStore({ path: this.#path, clock: systemClock })
  }
}

async function withStage(
  prove: (stage: SqliteStage, db: DatabaseSyncInstance) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
  const path = join(directory, 'rota.db')
  const store = await openSqliteStore({ path, clock: systemClock })
  const db = new DatabaseSync(path)
  const opened = { store, reopen: () => Promise.resolve(store), dispose: () => store.close() }
  try {
    await prove(new SqliteStage(opened, path), db)
  } finally {
    db.close()
    await store.close()
    rmSync(directory, { recursive: true })
  }
}

/** A tick with a run that has a gate, a range, and an older run that is held and has to make room. */
async function prepareTick(stage: Stage): Promise<Tick> {
  await stage.ready()
  await stage.trigger(aTrigger('t', { overlap: 'terminate-running', catchUp: latest }))
  await stage.tick('t', t0 + minute)
  await stage.claimOne('w', t0 + minute)
  await stage.tick('t', t0 + 2 * minute, { supersede: undefined })
  const now = t0 + 5 * minute
  const planned = await stage.seen('t', now)
  const range = { trigger: 't', version: 1, firstAt: now - minute, lastAt: now - minute } as const
  return {
    trigger: 't',
    revision: planned.revision,
    at: now,
    cursorAt: now,
    nextAt: now + minute,
    chainRun: undefined,
    runs: [
      aRun('tick', {
        trigger: 't',
        origin: 'trigger',
        dueAt: now,
        gates: [{ key: 'other', limit: 1 }],
        version: 1,
      }),
    ],
    ranges: [{ ...range, reason: 'missed', rule: 'catch-up:skip' }],
    supersede: { mode: 'terminate', by: aRun('tick', { dueAt: now }).id },
  }
}

const latest = { mode: 'latest', maxAgeMs: undefined, maxRuns: 100, graceMs: minute } as const

async function factsOf(stage: Stage): Promise<unknown> {
  const { store } = stage
  const runs = await store.runs({ limit: 100, trigger: 't' })
  const window = { trigger: 't', fromAt: 0, untilAt: t0 * 2 }
  return {
    trigger: await stage.stored('t'),
    runs,
    attempts: await Promise.all(runs.map(({ id }) => store.attempts(id))),
    ledger: await store.ledger(window),
  }
}
