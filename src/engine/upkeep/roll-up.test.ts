import { expect, it } from 'vitest'
import { aJob, aRun, outcomes, t0 } from '../../store/conformance/stage.js'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { rolledUntil, rollUp } from './roll-up.js'

const day = 86_400_000
const week = 7 * day

it('the first roll-up of an old history reads each end at most twice', async () => {
  const store = openMemoryStore()
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues: [], now: t0 })
  await store.register({ id: 'w', host: 'here', pid: 1, version: '0', now: t0, leaseMs: 99 * day })
  for (const at of [t0, t0 + 40 * day]) {
    const run = aRun(`r${at}`, { dueAt: at, runAt: at })
    await store.enqueue({ runs: [run], now: at })
    await store.turn({
      worker: 'w',
      now: at,
      finished: [],
      claimRequest: { jobs: ['work'], slots: 1, prefetch: 0 },
    })
    const finished = [{ run: run.id, attempt: 1, outcome: outcomes.done, startedAt: at, endedAt: at }]
    await store.turn({ worker: 'w', now: at, finished, claimRequest: undefined })
  }
  const asked: number[] = []
  const series: typeof store.series = (request) => {
    asked.push(request.untilAt - request.fromAt)
    return store.series(request)
  }
  const now = t0 + 41 * day
  let left: string
  do left = await rollUp({ ...store, series }, now)
  while (left === 'more')
  expect(await rolledUntil(store)).toBe(now - 3_600_000)
  expect(Math.max(...asked)).toBeLessThanOrEqual(week)
})
