import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { aRun, aTrigger, minute, outcomes, Stage, t0 } from '../conformance/stage.js'
import { openSqliteStore } from './sqlite-store.js'

/** A store whose queries must read more rows than one look reads. */
async function stage(): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
  const path = join(directory, 'rota.db')
  const store = await openSqliteStore({ path, durability: 'normal', clock: systemClock })
  onTestFinished(async () => {
    await store.close()
    rmSync(directory, { recursive: true })
  })
  const made = new Stage({ store, reopen: async () => store, dispose: () => store.close() })
  await made.ready()
  return made
}

it('a series of more ends than one look is complete, also where they share an instant', async () => {
  const { store } = await stage()
  await store.enqueue({ runs: Array.from({ length: 4500 }, (_, i) => aRun(`r${i}`)), now: t0 })
  const claimRequest = { jobs: ['work'], slots: 4500, prefetch: 0 }
  const { claims } = await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  const finished = claims.map(({ run, attempt }, i) => {
    return { run, attempt, outcome: outcomes.done, startedAt: t0, endedAt: t0 + (i % 3 === 0 ? 2 : 1) }
  })
  await store.turn({ worker: 'w', now: t0 + 3, finished, claimRequest: undefined })
  const found = await store.series({ fromAt: t0, untilAt: t0 + 9, bucketMs: 1 })
  expect(found.map(({ bucketAt, runs }) => [bucketAt - t0, runs])).toEqual([
    [1, 3000],
    [2, 1500],
  ])
})

it('a tally of more runs than one look is complete, lane by lane', async () => {
  const { store } = await stage()
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const runs = names.flatMap((trigger) =>
    Array.from({ length: 1300 }, (_, i) =>
      aRun(`${trigger}${i}`, { trigger, dueAt: t0 + Math.floor(i / 2) }),
    ),
  )
  await store.enqueue({ runs, now: t0 })
  const window = { triggers: [...names, 'nobody'], fromAt: t0, untilAt: t0 + 640 }
  expect(await store.tally({ ...window, bucketMs: 320 })).toEqual(
    names.flatMap((trigger) =>
      [t0, t0 + 320].map((bucketAt) => ({ trigger, bucketAt, state: 'pending', runs: 640 })),
    ),
  )
})

it('a page of the ledger has a range that comes after many others', async () => {
  const made = await stage()
  await made.trigger(aTrigger('t'))
  const range = (reason: 'missed' | 'paused', at: number) => {
    const rule = reason === 'missed' ? 'catch-up:skip' : 'hold'
    return { trigger: 't', version: 1, firstAt: at, lastAt: at, reason, rule } as const
  }
  const ranges = [
    range('paused', t0),
    ...Array.from({ length: 4500 }, (_, i) => range('missed', t0 + 1 + i)),
    range('paused', t0 + minute - 1),
  ]
  await made.tick('t', t0 + minute, { ranges })
  const found = await made.store.ledgerPage({ limit: 9, reasons: ['paused'] })
  expect(found.map(({ firstAt }) => firstAt - t0)).toEqual([minute - 1, 0])
  expect(await made.store.ledgerPage({ limit: 1, reasons: ['paused'] })).toEqual(found.slice(0, 1))
  expect(await made.store.ledgerPage({ limit: 3000 })).toHaveLength(3000)
})
