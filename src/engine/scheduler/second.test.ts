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

it('a scheduler that is slower leaves the next instants to the other one for a moment', async () => {
  const stage = new Stage()
  const { ticks } = await slower(stage)
  await stage.pass(5500)
  expect(ticks).toEqual([1000, 2000, 3000, 4100, 5100])
  expect((await stage.runs('t')).map(({ dueAt, state }) => [dueAt - t0, state])).toEqual(
    [1000, 2000, 3000, 4000, 5000].map((at) => [at, 'done']),
  )
})

it('it takes over from the instant on that the other one leaves', async () => {
  const stage = new Stage()
  const { ticks, state } = await slower(stage)
  await stage.pass(3500)
  state.isSlower = false
  await stage.pass(2500)
  expect(ticks).toEqual([1000, 2000, 3000, 4100, 5000, 6000])
  expect((await stage.runs('t')).map(({ createdAt }) => createdAt - t0)).toEqual(ticks)
})

it('a tick that is stale for another reason is planned again at once', async () => {
  const stage = new Stage()
  const { ticks, state } = await slower(stage)
  await stage.pass(2500)
  state.isSlower = false
  await stage.pass(2000)
  expect(ticks).toEqual([1000, 2000, 3000, 4000])
})

it('a freeze that begins while it waits is in force', async () => {
  const stage = new Stage()
  const { ticks, state } = await slower(stage)
  await stage.pass(3500)
  state.isSlower = false
  await stage.pass(550)
  await stage.store.hold({ target: 'all', now: stage.clock.now(), actor: 'ann', note: '' })
  await stage.pass(1000)
  expect(ticks).toEqual([1000, 2000, 3000])
})
