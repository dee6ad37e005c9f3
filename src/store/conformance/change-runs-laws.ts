import { expect } from 'vitest'
import type { NewRun } from '../../kernel/run/run.js'
import { aRun, minute, outcomes, t0, type Law, type Stage } from './stage.js'

const key = { kind: 'bulk', name: 'b', item: '' } as const

/** Changes of several runs. */
export function changeRunsLaws(law: Law): void {
  law(
    'a change of several runs returns a result for each, and updates its state entry with them',
    async (stage) => {
      const { done, failed, later, now, running } = await prepared(stage)
      const ids = [failed, done, 'absent', running]
      expect(await change(stage, { action: 'retry', runs: ids, revision: 0, now })).toEqual([
        'pending',
        'not-final',
        'absent',
        'not-final',
      ])
      expect(await valueOf(stage)).toEqual(['pending', 'not-final', 'absent', 'not-final'])
      expect((await stage.run(failed)).state).toBe('pending')
      const advanced = await change(stage, { action: 'advance', runs: [later, done], revision: 1, now })
      expect(advanced).toEqual(['advanced', 'not-waiting'])
      const cancelled = await change(stage, {
        action: 'cancel',
        runs: [later, done, running],
        revision: 2,
        now,
      })
      expect(cancelled).toEqual(['cancelled', 'final', 'requested'])
      await stage.reopen()
      expect(await stage.run(later)).toMatchObject({ state: 'cancelled', reason: 'enough' })
      expect(await valueOf(stage)).toEqual(['cancelled', 'final', 'requested'])
    },
  )

  law('a change of several runs computed from an older entry changes nothing', async (stage) => {
    const { failed, later, now } = await prepared(stage)
    expect(await change(stage, { action: 'retry', runs: [failed], revision: 1, now })).toBe('stale')
    expect((await stage.run(failed)).state).toBe('failed')
    expect(await valueOf(stage)).toBeUndefined()
    const both = await Promise.all(
      ['first', 'second'].map(() => change(stage, { action: 'cancel', runs: [later], revision: 0, now })),
    )
    expect(both).toHaveLength(2)
    expect(both).toEqual(expect.arrayContaining([['cancelled'], 'stale']))
  })

  law('new runs are recorded together with their state entry, each once, or not at all', async (stage) => {
    await stage.ready()
    const [first, second, third] = ['a', 'b', 'c'].map((label) => aRun(label, slotted)) as [
      NewRun,
      NewRun,
      NewRun,
    ]
    expect(await recorded(stage, [first, second], 0)).toEqual(['recorded', 'recorded'])
    expect(await recorded(stage, [third], 0)).toBe('stale')
    expect(await stage.store.run(third.id)).toBeUndefined()
    expect(await recorded(stage, [second, third], 1)).toEqual(['existing', 'recorded'])
    await stage.reopen()
    expect(await valueOf(stage)).toEqual(['existing', 'recorded'])
    // The run that existed has taken its slot once.
    const [claim] = await stage.claim('w', t0 + minute, { slots: 3 })
    if (claim === undefined) throw new Error('a claim was expected')
    await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + minute })
    expect(await stage.claim('w', t0 + minute, { slots: 3 })).toHaveLength(1)
  })
}

interface Asked {
  readonly action: 'retry' | 'cancel' | 'advance'
  readonly runs: readonly string[]
  readonly now: number
  readonly revision: number
}

async function change(stage: Stage, { revision, ...request }: Asked) {
  const entry = { ...key, revision, valueAfter: (answers: readonly string[]) => [...answers] }
  return await stage.store.changeRuns({ ...request, reason: 'enough', entry })
}

const slotted = { slots: [{ key: 'backfill:b', limit: 1 }] }

async function recorded(stage: Stage, newRuns: readonly NewRun[], revision: number) {
  const entry = { ...key, revision, valueAfter: (answers: readonly string[]) => [...answers] }
  return await stage.store.changeRuns({ action: 'record', newRuns, now: t0, entry })
}

async function valueOf(stage: Stage): Promise<unknown> {
  return (await stage.store.stateEntries({ kind: 'bulk', limit: 9 }))[0]?.value
}

async function prepared(stage: Stage) {
  await stage.ready()
  const runs = ['done', 'failed', 'running', 'later'].map((label, i) =>
    aRun(label, { dueAt: t0 + i, runAt: label === 'later' ? t0 + 99 * minute : t0, priority: 9 - i }),
  )
  await stage.enqueue(runs)
  const now = t0 + minute
  const [first, second] = await stage.claim('w', now, { slots: 3 })
  if (first === undefined || second === undefined) throw new Error('claims were expected')
  await stage.finish('w', first, { outcome: outcomes.done, at: now })
  await stage.finish('w', second, { outcome: outcomes.failed, at: now })
  const [done, failed, running, later] = runs.map(({ id }) => id) as [string, string, string, string]
  return { done, failed, running, later, now }
}
