import { expect } from 'vitest'
import type { NewRun } from '../../../../kernel/run/run.js'
import { deadlineOf } from '../../../../kernel/sla/deadline.js'
import { afterSuccess, freshnessKey, newFreshness, type Freshness } from '../../../../kernel/sla/freshness.js'
import type { Json } from '../../../../kernel/definition/json.js'
import { planTick } from '../../../../kernel/tick/tick.js'
import { aJob, aRun, aTrigger, minute, outcomes, t0, type Law, type Stage } from '../../stage.js'

const deadlines: NewRun['deadlines'] = [
  { rule: 'started-within', of: 'job', name: 'work', deadlineAt: t0 + 50, withinMs: 50 },
  { rule: 'finished-by', of: 'job', name: 'work', deadlineAt: t0 + 20, withinMs: null },
]

async function watched(stage: Stage): Promise<readonly string[]> {
  const entries = await stage.store.stateEntries({ kind: 'deadline', limit: 100 })
  return entries.map(deadlineOf).map(({ run, rule, deadlineAt }) => `${run ?? ''} ${rule} ${deadlineAt - t0}`)
}

async function promise(stage: Stage, name: string): Promise<Freshness | undefined> {
  const { kind, item } = freshnessKey(name)
  const [entry] = await stage.store.stateEntries({ kind, names: [name], items: [item], limit: 1 })
  return entry?.value as unknown as Freshness | undefined
}

async function promised(stage: Stage, ...names: readonly string[]): Promise<void> {
  const value = newFreshness(minute, t0) as unknown as Json
  const changes = names.map((name) => ({ ...freshnessKey(name), value }))
  expect(await stage.store.changeState({ changes, now: t0 })).toBe('changed')
}

/** The deadlines of runs are written in the transactions of the runs. */
export function promiseLaws(law: Law): void {
  law('recording a run writes its deadlines, which sort by time', async (stage) => {
    await stage.jobs([aJob('work')])
    const [plain, keyed] = [aRun('a', { deadlines }), aRun('b', { deadlines, uniqueKey: 'k' })]
    await stage.enqueue([plain, keyed, aRun('c')])
    const expected = [plain, keyed].map(({ id }) => id).toSorted()
    expect(await watched(stage)).toEqual([
      ...expected.map((id) => `${id} finished-by 20`),
      ...expected.map((id) => `${id} started-within 50`),
    ])
    await stage.reopen()
    expect(await watched(stage)).toHaveLength(4)
  })

  law('a run that exists, or is replaced by another one, writes none', async (stage) => {
    await stage.jobs([aJob('work')])
    const first = aRun('a', { uniqueKey: 'k' })
    await stage.enqueue([first, aRun('b')])
    const again = [aRun('b', { deadlines }), aRun('other', { uniqueKey: 'k', deadlines })]
    expect((await stage.store.enqueue({ runs: again, now: t0 })).map(({ created }) => created)).toEqual([
      false,
      false,
    ])
    expect(await watched(stage)).toEqual([])
  })

  law('a tick writes the deadlines of its runs, or nothing at all', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'))
    const run = aRun('due', { trigger: 't', origin: 'trigger', deadlines })
    const tick = await stage.tick('t', t0 + minute, { runs: [run] })
    expect(await watched(stage)).toHaveLength(2)
    expect(await stage.store.tick([{ ...tick, runs: [aRun('later', { deadlines })] }])).toEqual(['stale'])
    expect(await watched(stage)).toHaveLength(2)
  })

  law('ticks of one batch write the deadlines of all their runs', async (stage) => {
    await stage.jobs([aJob('work')])
    const names = ['a', 'b', 'c']
    for (const name of names) await stage.trigger(aTrigger(name))
    const now = t0 + minute
    const seen = await Promise.all(names.map((name) => stage.seen(name, now)))
    const ticks = seen
      .map((due) => planTick(due, now))
      .map((tick) => ({ ...tick, runs: tick.runs.map((run) => ({ ...run, deadlines })) }))
    expect(await stage.store.tick(ticks)).toEqual(['ticked', 'ticked', 'ticked'])
    expect(await watched(stage)).toHaveLength(6)
  })

  law('a success updates the freshness entries of its run in the same transaction', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.worker('w')
    await promised(stage, 'job work', 't', 'job other')
    const ends = [
      [aRun('a', { endEffect: 'run+job' }), outcomes.done],
      [aRun('b', { trigger: 't', origin: 'trigger', endEffect: 'run+both' }), outcomes.failed],
      [aRun('c', { trigger: 't', origin: 'trigger', endEffect: 'run+trigger' }), outcomes.done],
      [aRun('d'), outcomes.done],
    ] as const
    const found: unknown[] = []
    for (const [i, [run, outcome]] of ends.entries()) {
      const at = t0 + 10 * (i + 1)
      await stage.enqueue([{ ...run, dueAt: at, runAt: at }], at)
      await stage.finish('w', await stage.claimOne('w', at), { outcome, at })
      found.push([(await promise(stage, 'job work'))?.lastAt, (await promise(stage, 't'))?.lastAt])
    }
    expect(found).toEqual([
      [t0 + 10, t0],
      [t0 + 10, t0],
      [t0 + 10, t0 + 30],
      [t0 + 10, t0 + 30],
    ])
    expect(await promise(stage, 'job other')).toEqual(newFreshness(minute, t0))
  })

  law('successes of one turn count in the order of their ends, whatever else they change', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.worker('w')
    const effects = ['run+job', 'chain+job', 'run+job', 'asset+job', 'run+job'] as const
    const before = newFreshness(50, t0)
    const changes = [{ ...freshnessKey('job work'), value: before as unknown as Json }]
    await stage.store.changeState({ changes, now: t0 })
    const runs = effects.map((endEffect, i) => aRun(`r${i}`, { endEffect, trigger: 't', dueAt: t0 + i }))
    await stage.enqueue(runs, t0 + 9)
    const claims = await stage.claim('w', t0 + 9)
    expect(claims.map(({ run }) => run)).toEqual(runs.map(({ id }) => id))
    const ends = claims.map(({ run, attempt }, i) => {
      return { run, attempt, outcome: outcomes.done, startedAt: t0, endedAt: t0 + 100 * (i + 1) }
    })
    await stage.turn('w', t0 + 600, ends)
    const expected = ends.reduce((known, { endedAt }) => afterSuccess(known, endedAt), before)
    expect(expected.late).toHaveLength(5)
    expect(await promise(stage, 'job work')).toEqual(expected)
    const [entry] = await stage.store.stateEntries({ kind: 'promise', names: ['job work'], limit: 1 })
    expect(entry).toMatchObject({ revision: 6, at: t0 + 500 })
  })

  law('a success without a freshness promise writes nothing', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.worker('w')
    await stage.enqueue([aRun('a', { trigger: 't', origin: 'manual', endEffect: 'run+both' })])
    await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.done, at: t0 })
    expect(await stage.store.stateEntries({ kind: 'promise', limit: 10 })).toEqual([])
  })

  law('a chain continues, and each of its successes counts, also after a retry', async (stage) => {
    const everyMs = 10 * minute
    await stage.jobs([aJob('work')])
    await stage.worker('w')
    const schedule = { kind: 'after-finish', everyMs, immediate: true } as const
    await stage.trigger(aTrigger('t', { schedule, sla: { notOlderThanMs: minute } }), { nextAt: t0 })
    await promised(stage, 't')
    const { chainRun } = await stage.tick('t', t0)
    await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.failed, at: t0 + 1 })
    expect(await stage.stored('t')).toMatchObject({ nextAt: t0 + 1 + everyMs, chainRun })
    expect((await promise(stage, 't'))?.lastAt).toBe(t0)
    const before = await stage.stored('t')
    await stage.store.retry({ run: chainRun ?? '', now: t0 + 2 })
    await stage.finish('w', await stage.claimOne('w', t0 + 2), { outcome: outcomes.done, at: t0 + 3 })
    expect(await stage.stored('t')).toEqual(before)
    expect((await promise(stage, 't'))?.lastAt).toBe(t0 + 3)
  })
}
