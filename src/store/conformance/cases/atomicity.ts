import { expect, it } from 'vitest'
import type { Tick } from '../../../kernel/tick/tick.js'
import { recordOf } from './audit.js'
import { aJob, aRun, aTrigger, minute, outcomes, t0, type Stage } from '../stage.js'

/** A fault in a database that rejects every row of a table, or rows that match a condition. */
export interface Fault {
  put(place: string, when?: string): Promise<void>
  remove(): Promise<void>
}

/** Runs a law on a new store with a fault in its database. */
export type WithFault = (prove: (stage: Stage, fault: Fault) => Promise<void>) => Promise<void>

/** The statements of a tick in order: a fault is injected before each of them. */
const places = [
  'update on triggers',
  'insert on runs',
  'insert on gates',
  'insert on ledger',
  'update on runs',
  'insert on notices',
  'insert on attempts',
]

/** The laws of stores in which a statement can fail in the middle of a transaction. */
export function atomicityLaws(withFault: WithFault): void {
  it.each(places)('G2: a tick that fails at the %s leaves nothing, and can be repeated', async (place) => {
    await withFault(async (stage, fault) => {
      const tick = await prepareTick(stage)
      const before = await factsOf(stage)
      await fault.put(place)
      const other = stage.store.enqueue({ runs: [aRun('later', { runAt: t0 + 9 * minute })], now: t0 })
      const [others, ticked] = await Promise.allSettled([other, stage.store.tick([tick])])
      expect(others.status).toBe(place === 'insert on runs' ? 'rejected' : 'fulfilled')
      expect(ticked).toMatchObject({ status: 'rejected', reason: { message: 'broken on purpose' } })
      expect(await factsOf(stage)).toEqual(before)
      await fault.remove()
      expect(await stage.store.tick([tick])).toEqual(['ticked'])
      expect((await stage.stored('t')).cursorAt).toBe(tick.cursorAt)
      expect(await factsOf(stage)).not.toEqual(before)
    })
  })

  it('G5: a turn that fails after storing results rolls them back', async () => {
    await withFault(async (stage, fault) => {
      await stage.ready()
      await stage.enqueue([aRun('a'), aRun('b')])
      const claim = await stage.claimOne('w', t0)
      const finished = [{ ...claim, outcome: outcomes.done, startedAt: t0, endedAt: t0 + 1 }]
      const request = {
        worker: 'w',
        now: t0 + 1,
        finished,
        claimRequest: { jobs: ['work'], slots: 1, prefetch: 0 },
      }
      await fault.put('update on runs', 'new.state = 3')
      await expect(stage.store.turn(request)).rejects.toThrow('broken on purpose')
      expect((await stage.run(claim.run)).state).toBe('running')
      await fault.remove()
      const answer = await stage.store.turn(request)
      expect(answer.finished).toEqual(['stored'])
      expect(answer.claims.map(({ run }) => run)).toEqual([aRun('b').id])
    })
  })

  it.each([
    ['insert on audit', 'the entry'],
    ['update on runs', 'the change'],
  ])('a change that fails at the %s leaves neither its effect nor its entry', async (place) => {
    await withFault(async (stage, fault) => {
      await stage.ready()
      await stage.enqueue([aRun('a')])
      const id = aRun('a').id
      await stage.store.cancel({ run: id, now: t0, reason: 'no' })
      await fault.put(place)
      const store = stage.store.audited(recordOf('run.retry', [{ kind: 'run', id }]))
      const other = stage.store.enqueue({ runs: [aRun('other')], now: t0 })
      await expect(store.retry({ run: id, now: t0 + 1 })).rejects.toThrow('broken on purpose')
      expect(await other).toMatchObject([{ created: true }])
      expect((await stage.run(id)).state).toBe('cancelled')
      expect(await stage.store.auditPage({ limit: 9 })).toEqual([])
      await fault.remove()
      expect(await store.retry({ run: id, now: t0 + 1 })).toBe('pending')
      expect(await stage.store.auditPage({ limit: 9 })).toMatchObject([
        { action: 'run.retry', before: { state: 'cancelled' }, after: { state: 'pending' } },
      ])
    })
  })

  it('what was cached during a rolled back transaction is discarded', async () => {
    await withFault(async (stage, fault) => {
      await stage.ready()
      await fault.put('insert on runs', 'new.priority = 7')
      const queues = [{ name: 'default', concurrency: 0 }]
      const turn = stage.store.turn({
        worker: 'w',
        now: t0,
        finished: [],
        claimRequest: { jobs: ['work'], slots: 1, prefetch: 0 },
      })
      const answers = await Promise.allSettled([
        stage.store.enqueue({ runs: [aRun('a')], now: t0 }),
        turn,
        stage.store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues, now: t0 }),
        stage.store.enqueue({ runs: [aRun('bad', { priority: 7 })], now: t0 }),
      ])
      expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
      await stage.enqueue([aRun('b')])
      expect(await stage.claim('w', t0)).toEqual([])
      // The turn may have been before or after the definition.
      const isClaimed = (await turn).claims.length === 1
      expect((await stage.run(aRun('a').id)).state).toBe(isClaimed ? 'running' : 'pending')
      const finished = [{ run: aRun('a').id, attempt: 1, outcome: outcomes.done, startedAt: t0, endedAt: t0 }]
      expect((await stage.turn('w', t0, finished)).finished).toEqual([isClaimed ? 'stored' : 'stale'])
    })
  })

  it('G3: texts that differ only after a zero byte are different texts', async () => {
    await withFault(async (stage) => {
      const runs = [aRun('a', { uniqueKey: 'k\0a' }), aRun('b', { uniqueKey: 'k\0b', partition: 'p\0q' })]
      await stage.enqueue(runs)
      const line = { run: aRun('a').id, attempt: 1, at: t0, level: 'info', text: 'before\0after' } as const
      await stage.store.log([line])
      expect((await stage.run(aRun('b').id)).partition).toBe('p\u2400q')
      expect((await stage.store.logs({ run: line.run, limit: 1 }))[0]?.text).toBe('before\u2400after')
    })
  })
}

/** A tick with a run that has a concurrency limit, a range, and an older running run that is superseded. */
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
        slots: [{ key: 'other', limit: 1 }],
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
