import { expect } from 'vitest'
import type { NewRun, StoredError } from '../../../kernel/run/run.js'
import type { RunFilter } from '../../run-filter.js'
import { aJob, aRun, minute, outcomes, t0, type Law, type Stage } from '../stage.js'

/** A filter, and the runs of `prepared` that match it, the newest first. */
const filters: readonly [filter: Omit<RunFilter, 'limit'>, expected: string][] = [
  [{ state: ['failed', 'done'] }, 'gfedc'],
  [{ state: ['failed'] }, 'gfed'],
  [{ state: 'failed' }, 'gfed'],
  [{ state: ['pending', 'running'] }, 'hba'],
  [{ state: [] }, ''],
  [{ job: ['mail', 'nobody'] }, 'ea'],
  [{ trigger: ['t', 'u'] }, 'gdb'],
  [{ trigger: 't', state: 'failed' }, 'gd'],
  [{ trigger: 't', origin: 'trigger', sinceAt: t0 + 3 * minute }, 'd'],
  [{ queue: 'slow' }, 'ea'],
  [{ queue: 'slow', job: 'work' }, ''],
  [{ queue: 'nobody' }, ''],
  [{ origin: ['sensor', 'backfill'] }, 'hf'],
  [{ partition: '2026-01-05' }, 'h'],
  [{ labels: { customer: '42' } }, 'dc'],
  [{ labels: { customer: '42', plan: 'a"b\\c' } }, 'd'],
  [{ labels: { customer: '4' } }, ''],
  [{ labels: { plan: 'free' } }, 'b'],
  [{ labels: { '"plan': 'free' } }, ''],
  [{ errorCode: 'ECONNREFUSED' }, 'e'],
  [{ errorCode: 'ECONN*' }, 'fe'],
  [{ errorCode: 'ECONN' }, ''],
  [{ errorCode: 'HANDLER_FAILED', state: 'failed', job: 'work' }, 'gd'],
  [{ errorText: 'REFUSED' }, 'e'],
  [{ errorText: 'say "no"\n' }, 'g'],
  [{ errorText: '}' }, 'g'],
  [{ errorText: 'stack' }, ''],
  [{ errorText: 'mail.mjs' }, ''],
  [{ errorText: 'Größe' }, 'f'],
  [{ errorText: '%' }, 'f'],
  [{ worker: 'w' }, 'h'],
  [{ worker: 'w*' }, 'h'],
  [{ worker: 'v*' }, ''],
  [{ worker: 'w', state: 'failed' }, ''],
  [{ worker: 'w', state: ['failed', 'running'] }, 'h'],
  [{ late: { byMs: 9 * minute - 1, at: t0 + 10 * minute } }, 'ba'],
  [{ late: { byMs: 9 * minute - 1, at: t0 + 10 * minute }, state: 'pending' }, 'ba'],
  [{ late: { byMs: 2 * minute, at: t0 + 10 * minute }, state: ['failed', 'running'] }, 'hfed'],
  [{ state: 'failed', sinceAt: t0 + 4 * minute, untilAt: t0 + 5 * minute }, 'fe'],
  [{ origin: 'enqueue', sinceAt: t0 + 0.5, untilAt: t0 + 6.5 * minute }, 'ge'],
]

/** Filtered lists and counts of runs. */
export function runFilterLaws(law: Law): void {
  law('a filter returns the runs that match all its conditions', async (stage) => {
    const runs = await prepared(stage)
    const letters = lettersOf(runs)
    const found = await Promise.all(
      filters.map(async ([filter]) => [filter, letters(await stage.store.runs({ ...filter, limit: 99 }))]),
    )
    expect(found).toEqual(filters)
    const counted = await Promise.all(filters.map(([filter]) => stage.store.countRuns(filter, 99)))
    expect(counted).toEqual(filters.map(([, { length: count }]) => ({ count, isCapped: false })))
  })

  law('pages go through the runs of a filter in both directions', async (stage) => {
    const runs = await prepared(stage)
    const letters = lettersOf(runs)
    const conditions = [
      {},
      { state: 'failed' },
      { job: 'work' },
      { trigger: 't' },
      { state: 'pending' },
    ] as const
    for (const filter of conditions) {
      const all = await stage.store.runs({ ...filter, limit: 99 })
      for (const [i, run] of all.entries()) {
        const older = await stage.store.runs({ ...filter, limit: 2, before: run.id })
        const newer = await stage.store.runs({ ...filter, limit: 2, newerThan: run.id })
        expect(letters(older)).toBe(letters(all.slice(i + 1, i + 3)))
        expect(letters(newer)).toBe(letters(all.slice(Math.max(0, i - 2), i)))
      }
      const [newest, oldest] = [all[0], all.at(-1)]
      const between = { ...filter, before: newest?.id, newerThan: oldest?.id, limit: 99 }
      expect(letters(await stage.store.runs(between))).toBe(letters(all.slice(1, -1)))
    }
  })

  law('a page says where its look ended, and the pages from there have all that is left', async (stage) => {
    const runs = await prepared(stage)
    const letters = lettersOf(runs)
    for (const direction of ['before', 'newerThan'] as const) {
      const found: string[] = []
      let cursor = direction === 'before' ? '~' : ''
      for (;;) {
        const filter = { job: 'work', limit: 2, look: 3, [direction]: cursor }
        const { runs: page, lookedTo } = await stage.store.runsPage(filter)
        const next = direction === 'before' ? page.at(-1)?.id : page[0]?.id
        found.push(direction === 'before' ? letters(page) : reversed(letters(page)))
        cursor = lookedTo ?? next ?? 'end'
        if (cursor === 'end') break
      }
      const expected = 'hgfdcb'
      expect(found.join('')).toBe(direction === 'before' ? expected : reversed(expected))
    }
    expect((await stage.store.runsPage({ limit: 99 })).lookedTo).toBeUndefined()
  })
}

function lettersOf(runs: readonly NewRun[]): (found: readonly { id: string }[]) => string {
  const byId = new Map(runs.map(({ id }, i) => [id, String.fromCodePoint(97 + i)]))
  return (found) => found.map(({ id }) => byId.get(id) ?? '?').join('')
}

function reversed(text: string): string {
  return text.split('').toReversed().join('')
}

/** Runs `a` to `h`, one minute apart, in every state. */
async function prepared(stage: Stage): Promise<readonly NewRun[]> {
  await stage.jobs([aJob('work'), aJob('mail', { queue: 'slow' })])
  await stage.worker('w')
  const given: readonly Partial<NewRun>[] = [
    { job: 'mail' },
    { trigger: 'u', origin: 'trigger', labels: { plan: 'free', customer: '421' } },
    { labels: { customer: '42' }, origin: 'manual' },
    { trigger: 't', origin: 'trigger', labels: { plan: 'a"b\\c', customer: '42' } },
    { job: 'mail', priority: 1 },
    { origin: 'backfill' },
    { trigger: 't' },
    { origin: 'sensor', partition: '2026-01-05' },
  ]
  const runs = given.map((one, i) => aRun(String(i), { dueAt: t0 + i * minute, runAt: t0, ...one }))
  await stage.enqueue(runs)
  const claims = await stage.claim('w', t0 + 10 * minute, { slots: 8 })
  const errors: readonly (StoredError | undefined)[] = [
    undefined,
    undefined,
    undefined,
    { code: 'HANDLER_FAILED', message: 'no' },
    { code: 'ECONNREFUSED', message: 'Connection refused', stack: 'at send (mail.mjs:41)' },
    { code: 'ECONNRESET', message: 'Größe 100 %', details: { code: 'ECONNREFUSED' } },
    { code: 'HANDLER_FAILED', message: 'say "no"\n\u0000 \ud800 {}' },
    undefined,
  ]
  for (const [i, run] of runs.entries()) {
    const claim = claims.find((one) => one.run === run.id)
    if (claim === undefined) throw new Error('a claim was expected')
    const error = errors[i]
    const at = t0 + 10 * minute
    // The later a run is due, the less late it is started: h is still running.
    const startedAt = t0 + (i < 5 ? 7 : 8) * minute
    if (i < 2) await stage.finish('w', claim, { outcome: outcomes.again(at + minute), at, startedAt })
    else if (error !== undefined)
      await stage.finish('w', claim, { outcome: { end: 'failed', state: 'failed', error }, at, startedAt })
    else if (i === 2) await stage.finish('w', claim, { outcome: outcomes.done, at, startedAt })
  }
  return runs
}
