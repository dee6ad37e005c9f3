import { expect, it } from 'vitest'
import { defineTrigger } from '../../src/kernel/trigger/define-trigger.js'
import type { Tables } from '../../src/store/memory/tables.js'
import type { Store, Turn } from '../../src/store/port.js'
import { worldOn } from './lawless-world.js'

const often = [
  defineTrigger('often', { job: 'work', cron: '*/5 * * * *', overlap: 'queue-all', catchUp: 'all' }),
  defineTrigger('skipping', { job: 'work', cron: '*/7 * * * *' }),
]

it('the simulation reports nothing for a correct store', async () => {
  const report = await worldOn(() => ({}), often)
  expect(report.broken).toEqual([])
  expect(report.crashes).toBeGreaterThan(5)
})

it('it detects ticks that are applied without comparing the revision', async () => {
  const report = await worldOn(
    (store, tables) => ({
      // A tick from an older state overwrites a newer one.
      tick: (batch) =>
        store.tick(
          batch.map((tick) => ({
            ...tick,
            revision: tables.triggers.get(tick.trigger)?.revision ?? tick.revision,
          })),
        ),
    }),
    often,
  )
  expect(report.broken).toContainEqual(expect.stringMatching(/^G2: .* was recorded twice$/))
})

/** Sometimes a turn is delayed until others have taken over and claimed the runs that it reports. */
function withZombies(store: Store, tables: Tables, handIn: (turn: Turn) => Turn): Partial<Store> {
  let turns = 0
  // Only if it holds nothing else, which would continue for a moment during the takeover.
  const isAll = ({ worker, finished }: Turn): boolean =>
    finished.length > 0 && tables.workers.get(worker)?.running.size === finished.length
  return {
    turn: async (turn) => {
      if (!isAll(turn) || ++turns % 5 !== 0) return await store.turn(turn)
      const { now } = turn
      await store.retire({ worker: turn.worker, now })
      const lost = await store.expire({ now, deadline: 0, limit: 1000 })
      const outcome = { end: 'lost', state: 'pending', runAt: now } as const
      const finished = lost.map(({ run, attempt }) => ({
        run,
        attempt,
        outcome,
        startedAt: now,
        endedAt: now,
      }))
      await store.turn({ worker: '', now, finished, claimRequest: undefined })
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
      return await store.turn(handIn(turn))
    },
  }
}

it('it detects ends that are stored although there is a newer claim, and nothing if they are refused', async () => {
  const fenced = await worldOn((store, tables) => withZombies(store, tables, (turn) => turn), often)
  expect(fenced.repeated).toBeGreaterThan(20)
  expect(fenced.broken).toEqual([])
  const unfenced = await worldOn(
    (store, tables) =>
      withZombies(store, tables, (turn) => {
        const attemptOf = (run: string): number => tables.runs.get(run)?.attempt ?? 0
        return { ...turn, finished: turn.finished.map((one) => ({ ...one, attempt: attemptOf(one.run) })) }
      }),
    often,
  )
  expect(unfenced.broken).toContainEqual(expect.stringMatching(/^G5: .* which never existed$/))
})

it('it detects runs that a tick did not write', async () => {
  let count = 0
  const report = await worldOn(
    (store) => ({
      tick: (batch) => store.tick(batch.map((tick) => (++count % 50 === 0 ? { ...tick, runs: [] } : tick))),
    }),
    often,
  )
  expect(report.broken.some((sentence) => sentence.startsWith('G2'))).toBe(true)
})

it('it detects runs that were cancelled for one that was not written', async () => {
  const report = await worldOn(
    (store) => ({
      tick: (batch) => store.tick(batch.map((tick) => (tick.supersede ? { ...tick, runs: [] } : tick))),
    }),
    [defineTrigger('cancelling', { job: 'work', cron: '* * * * *', overlap: 'cancel-running' })],
  )
  expect(report.broken).toContainEqual(
    expect.stringMatching(/^G3: .* was cancelled for .*, which is not a run$/),
  )
})
