import { expect, it } from 'vitest'
import { changed, minute, Stage, t0 } from '../../../test/fixtures/engine-stage.js'
import type { Instant } from '../../time/instant.js'

const names = Array.from({ length: 60 }, (_, i) => `t${String(i).padStart(2, '0')}`)
const triggers = Object.fromEntries(names.map((name) => [name, { at: new Date(t0 + minute) }]))
const jobs = { work: () => undefined }

/** A process whose store calls are recorded with their times; the test sets the stamp of its store. */
async function watched(stage: Stage) {
  const calls: [string, Instant][] = []
  const state = { stamp: 1 }
  const store = changed(stage.store, {
    stamp: async () => state.stamp,
    due: (request) => {
      calls.push(['due', stage.clock.now() - t0])
      return stage.store.due(request)
    },
    tick: (batch) => {
      calls.push([`tick ${batch.length}`, stage.clock.now() - t0])
      return stage.store.tick(batch)
    },
  })
  await stage.process({ jobs, triggers, store })
  return { calls, state }
}

it('triggers that are due together are read shortly before, and committed at their instant', async () => {
  const stage = new Stage()
  const { calls } = await watched(stage)
  await stage.passTo(t0 + minute)
  const late = calls.filter(([, at]) => at > minute - 1000)
  expect(late.slice(0, 3)).toEqual([
    ['due', minute - 250],
    ['due', minute - 250],
    ['tick 60', minute],
  ])
  const runs = await stage.runs()
  expect(runs.map(({ trigger = '' }) => trigger).toSorted()).toEqual(names)
  expect(new Set(runs.map(({ createdAt, startedAt }) => `${createdAt} ${startedAt}`)).size).toBe(1)
  expect(runs[0]).toMatchObject({ state: 'done', createdAt: t0 + minute, startedAt: t0 + minute })
})

it('a plan is dropped after any commit: a hold that comes in between takes effect', async () => {
  const stage = new Stage()
  const { calls, state } = await watched(stage)
  await stage.passTo(t0 + minute - 100)
  state.stamp = 2
  await stage.store.hold({ target: 'trigger:t07', now: stage.clock.now(), actor: 'ann', note: '' })
  await stage.passTo(t0 + minute)
  expect(calls.find(([, at]) => at === minute)).toEqual(['due', minute])
  expect((await stage.runs()).map(({ trigger = '' }) => trigger).toSorted()).toEqual(
    names.filter((name) => name !== 't07'),
  )
})

it('a scheduler looks after a commit, and otherwise every half minute', async () => {
  const stage = new Stage()
  const { calls, state } = await watched(stage)
  await stage.passTo(t0 + 10 * minute)
  const begin = calls.length
  await stage.pass(2 * minute)
  expect(calls.length - begin).toBe(4)
  state.stamp = 2
  await stage.pass(2000)
  expect(calls.length - begin).toBe(5)
})

it('a plan is dropped if its process was asleep at its instant', async () => {
  const stage = new Stage()
  const { calls } = await watched(stage)
  await stage.passTo(t0 + minute - 100)
  stage.clock.step(2 * minute)
  await stage.pass(minute)
  expect(calls.filter(([name]) => name.startsWith('tick')).at(0)?.[1]).toBeGreaterThan(2 * minute)
  const [run] = await stage.runs('t00')
  expect(run?.createdAt).toBeGreaterThan(t0 + 2 * minute)
})
