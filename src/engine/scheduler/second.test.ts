import { expect, it } from 'vitest'
import { changed, Stage, t0 } from '../../../test/fixtures/engine-stage.js'
import type { Instant } from '../../time/instant.js'

const jobs = { work: () => undefined }
const triggers = { t: { every: '1s' } }

/** A process whose ticks another scheduler commits first while `state.isSlower`; the times of its ticks. */
async function slower(stage: Stage) {
  const ticks: Instant[] = []
  const state = { isSlower: true }
  const store = changed(stage.store, {
    tick: async (batch) => {
      ticks.push(stage.clock.now() - t0)
      if (state.isSlower) await stage.store.tick(batch)
      return await stage.store.tick(batch)
    },
  })
  await stage.process({ jobs, triggers, store })
  return { ticks, state }
}

it('a scheduler that was slower leaves the next instants to the other one for a moment', async () => {
  const stage = new Stage()
  const { ticks } = await slower(stage)
  await stage.pass(3500)
  expect(ticks).toEqual([1000, 2100, 3100])
  expect((await stage.runs('t')).map(({ dueAt, state }) => [dueAt - t0, state])).toEqual([
    [1000, 'done'],
    [2000, 'done'],
    [3000, 'done'],
  ])
})

it('it takes over from the instant on that the other one leaves', async () => {
  const stage = new Stage()
  const { ticks, state } = await slower(stage)
  await stage.pass(1500)
  state.isSlower = false
  await stage.pass(2500)
  expect(ticks).toEqual([1000, 2100, 3000, 4000])
  expect((await stage.runs('t')).map(({ createdAt }) => createdAt - t0)).toEqual([1000, 2100, 3000, 4000])
})
