import { expect } from 'vitest'
import type { RecordedRange } from '../../../kernel/ledger/ledger.js'
import { aRun, aTrigger, minute, outcomes, t0, type Law, type Stage } from '../stage.js'

/** Instants that did not run, and pruned runs. */
export function ledgerLaws(law: Law): void {
  law('the ledger returns the ranges that overlap a window, oldest first', async (stage) => {
    await stage.trigger(aTrigger('t'))
    const range = (firstAt: number, lastAt: number) =>
      ({ trigger: 't', version: 1, firstAt, lastAt, reason: 'missed', rule: 'catch-up:skip' }) as const
    const ranges = [range(t0 + 50, t0 + 60), range(t0 + 10, t0 + 20), range(t0 + 30, t0 + 40)]
    await stage.tick('t', t0 + 99, { ranges })
    const firsts = async (fromAt: number, untilAt: number): Promise<number[]> =>
      (await stage.store.ledger({ trigger: 't', fromAt: t0 + fromAt, untilAt: t0 + untilAt })).map(
        (r) => r.firstAt - t0,
      )
    expect(await firsts(0, 99)).toEqual([10, 30, 50])
    expect(await firsts(20, 30)).toEqual([10, 30])
    expect(await firsts(21, 29)).toEqual([])
    expect(await firsts(35, 35)).toEqual([30])
    expect(await stage.store.ledger({ trigger: 'other', fromAt: 0, untilAt: t0 * 2 })).toEqual([])
  })

  law('a range keeps its rule, its blocker and its detail', async (stage) => {
    await stage.trigger(aTrigger('t'))
    const at = { trigger: 't', version: 1, firstAt: t0 + 1, lastAt: t0 + 1 }
    const ranges = [
      { ...at, reason: 'overlap', rule: 'overlap:skip', blocker: 'x', detail: 'me: why' },
    ] as const
    await stage.tick('t', t0 + 9, { ranges })
    const recorded = await stage.store.ledger({ trigger: 't', fromAt: t0, untilAt: t0 + 9 })
    expect(recorded).toEqual([{ ...ranges[0], recordedAt: t0 + 9 }])
  })

  law(
    'prune removes final runs that ended before the instant, the oldest first, up to the limit',
    async (stage) => {
      await stage.ready()
      await stage.enqueue(['1', '2', '3', 'open'].map((label) => aRun(label)))
      for (const at of [3, 1, 2]) {
        await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.done, at: t0 + at })
      }
      const request = { before: t0 + 3, now: t0 + 9 }
      expect(await stage.store.prune({ ...request, limit: 1 })).toBe(1)
      expect(await labelsLeft(stage, ['1', '2', '3', 'open'])).toEqual(['1', '3', 'open'])
      expect(await stage.store.prune({ ...request, limit: 9 })).toBe(1)
      expect(await labelsLeft(stage, ['1', '2', '3', 'open'])).toEqual(['1', 'open'])
      expect(await stage.store.prune({ ...request, limit: 9 })).toBe(0)
      expect(await stage.store.counts()).toMatchObject({ done: 1, pending: 1 })
    },
  )

  law(
    'prune removes attempts and logs with the run, and keeps unfinished runs and cursors',
    async (stage) => {
      await stage.ready()
      await stage.trigger(aTrigger('t'))
      await stage.tick('t', t0 + 2 * minute)
      const claim = await stage.claimOne('w', t0 + 2 * minute)
      await stage.store.log([{ run: claim.run, attempt: 1, at: t0, level: 'info', text: 'hello' }])
      await stage.finish('w', claim, { outcome: outcomes.failed, at: t0 + 2 * minute })
      await stage.claimOne('w', t0 + 2 * minute)
      const before = await stage.stored('t')
      expect(await stage.store.prune({ before: t0 + 9 * minute, limit: 99, now: t0 + 9 * minute })).toBe(1)
      expect(await stage.store.run(claim.run)).toBeUndefined()
      expect(await stage.store.attempts(claim.run)).toEqual([])
      expect(await stage.store.logs({ run: claim.run, limit: 9 })).toEqual([])
      expect(await stage.stored('t')).toEqual(before)
      expect(await stage.store.runs({ limit: 9 })).toHaveLength(1)
    },
  )

  law('G2: pruned runs of a trigger leave a range with counts per outcome', async (stage) => {
    await runsThatEnd(stage, ['done', 'failed', 'done'])
    await stage.store.prune({ before: t0 + 9 * minute, limit: 99, now: t0 + 9 * minute })
    const [range, ...others] = await ledgerOf(stage)
    expect(others).toEqual([])
    expect(range).toMatchObject({
      trigger: 't',
      version: 1,
      firstAt: t0 + minute,
      lastAt: t0 + 3 * minute,
      reason: 'pruned',
      rule: 'prune',
    })
    expect(JSON.parse(range?.detail ?? '')).toEqual({ done: 2, failed: 1 })
  })

  law(
    'G2: ranges of pruned runs are merged only if no run and no other range is between them',
    async (stage) => {
      await runsThatEnd(stage, ['done', undefined, 'done', 'done'])
      await stage.store.prune({ before: t0 + 9 * minute, limit: 99, now: t0 + 9 * minute })
      expect(await placesOf(stage)).toEqual([
        ['pruned', 1, 1],
        ['pruned', 3, 4],
      ])
      const [middle] = await stage.claim('w', t0 + 9 * minute)
      await stage.finish('w', middle ?? { run: '', attempt: 0 }, {
        outcome: outcomes.done,
        at: t0 + 9 * minute,
      })
      await stage.store.prune({ before: t0 + 10 * minute, limit: 99, now: t0 + 10 * minute })
      expect(await placesOf(stage)).toEqual([['pruned', 1, 4]])
    },
  )

  law('G3: a pruned range never absorbs another reason', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t', { overlap: 'skip' }))
    for (const i of [1, 2, 3]) {
      await stage.tick('t', t0 + i * minute)
      if (i === 2) {
        await stage.finish('w', await stage.claimOne('w', t0 + i * minute), {
          outcome: outcomes.done,
          at: t0 + i * minute,
        })
      }
    }
    await stage.finish('w', await stage.claimOne('w', t0 + 3 * minute), {
      outcome: outcomes.done,
      at: t0 + 3 * minute,
    })
    await stage.store.prune({ before: t0 + 9 * minute, limit: 99, now: t0 + 9 * minute })
    expect(await placesOf(stage)).toEqual([
      ['pruned', 1, 1],
      ['overlap', 2, 2],
      ['pruned', 3, 3],
    ])
  })

  law('manual runs and runs without a trigger leave no range', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'))
    await stage.enqueue([aRun('by hand', { trigger: 't', origin: 'manual' }), aRun('plain')])
    for (const claim of await stage.claim('w', t0))
      await stage.finish('w', claim, { outcome: outcomes.done, at: t0 })
    expect(await stage.store.prune({ before: t0 + 1, limit: 9, now: t0 + 1 })).toBe(2)
    expect(await ledgerOf(stage)).toEqual([])
  })

  law('endedRuns returns final runs by their ends, the newest first, in pages', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('1'), aRun('2'), aRun('3'), aRun('4')])
    const claims = await stage.claim('w', t0)
    for (const [i, claim] of claims.slice(0, 3).entries())
      await stage.finish('w', claim, {
        outcome: outcomes[i === 1 ? 'failed' : 'done'],
        at: t0 + (i === 0 ? 9 : 5),
      })
    const all = await stage.store.endedRuns({ after: undefined, limit: 9 })
    expect(all.map(({ job, state, finishedAt }) => [job, state, finishedAt - t0])).toEqual([
      ['work', 'done', 9],
      ['work', all[1]?.state, 5],
      ['work', all[2]?.state, 5],
    ])
    expect(new Set(all.slice(1).map(({ state }) => state))).toEqual(new Set(['done', 'failed']))
    const first = await stage.store.endedRuns({ after: undefined, limit: 2 })
    const rest = await stage.store.endedRuns({ after: first[1], limit: 2 })
    expect([...first, ...rest]).toEqual(all)
  })

  law('prune of named runs removes only those that are final and ended before the instant', async (stage) => {
    await runsThatEnd(stage, ['done', 'failed', 'done', undefined, 'done'])
    const at = t0 + 9 * minute
    const found = await stage.store.runs({ trigger: 't', limit: 9 })
    const runs = found.toSorted((a, b) => a.dueAt - b.dueAt).map(({ id }) => id)
    const named = [runs[1], runs[3], runs[4], 'nobody'] as typeof runs
    expect(await stage.store.prune({ before: t0, limit: 9, now: at, runs: named })).toBe(0)
    expect(await stage.store.prune({ before: at, limit: 9, now: at, runs: named })).toBe(2)
    expect(await placesOf(stage)).toEqual([
      ['pruned', 2, 2],
      ['pruned', 5, 5],
    ])
    // A range grows over runs that are removed later, but not over a remaining run.
    expect(await stage.store.prune({ before: at, limit: 9, now: at, runs: runs.slice(0, 3) })).toBe(2)
    expect(await placesOf(stage)).toEqual([
      ['pruned', 1, 3],
      ['pruned', 5, 5],
    ])
    await stage.reopen()
    expect(await stage.store.endedRuns({ after: undefined, limit: 9 })).toEqual([])
  })

  law('G7: the ledger is the same after reopening', async (stage) => {
    await runsThatEnd(stage, ['done', 'failed'])
    await stage.store.prune({ before: t0 + 9 * minute, limit: 1, now: t0 + 9 * minute })
    const before = await ledgerOf(stage)
    await stage.reopen()
    expect(await ledgerOf(stage)).toEqual(before)
  })
}

/** Runs of the trigger `t`, one per minute, that end in the given states or stay pending. */
async function runsThatEnd(stage: Stage, ends: readonly ('done' | 'failed' | undefined)[]): Promise<void> {
  await stage.ready()
  await stage.trigger(aTrigger('t'))
  const now = t0 + ends.length * minute
  await stage.tick('t', now)
  const claims = await stage.claim('w', now)
  for (const [i, end] of ends.entries()) {
    const claim = claims[i]
    if (claim === undefined) throw new Error('a claim was expected')
    await stage.finish('w', claim, {
      outcome: end === undefined ? outcomes.released(now) : outcomes[end],
      at: now,
    })
  }
}

async function ledgerOf(stage: Stage): Promise<readonly RecordedRange[]> {
  return await stage.store.ledger({ trigger: 't', fromAt: t0, untilAt: t0 + 99 * minute })
}

async function placesOf(stage: Stage): Promise<unknown[]> {
  const ranges = await ledgerOf(stage)
  return ranges.map(({ reason, firstAt, lastAt }) => [
    reason,
    (firstAt - t0) / minute,
    (lastAt - t0) / minute,
  ])
}

async function labelsLeft(stage: Stage, labels: readonly string[]): Promise<string[]> {
  const runs = await stage.store.runs({ limit: 99 })
  const ids = new Set(runs.map(({ id }) => id))
  return labels.filter((label) => ids.has(aRun(label).id))
}
