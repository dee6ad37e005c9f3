import { expect, it } from 'vitest'
import { FakeClock } from '../../../testing/fake-clock.js'
import { OwnRuns } from './own-runs.js'

const t0 = Date.UTC(2026, 0, 5)

function watched() {
  const clock = new FakeClock(t0)
  const told: [string, number][] = []
  const runs = new OwnRuns({ clock, tell: (news) => void told.push([news, clock.now() - t0]) })
  return { clock, told, runs }
}

it('without a worker that has room, others are told at once', () => {
  const { told, runs } = watched()
  runs.recorded(['a'])
  runs.turned({ claimed: [], hasRoom: false })
  runs.recorded(['b'])
  expect(told).toEqual([
    ['runs', 0],
    ['runs', 0],
  ])
})

it('others learn of runs that the worker claims only that they are taken', async () => {
  const { clock, told, runs } = watched()
  runs.turned({ claimed: [], hasRoom: true })
  runs.recorded(['a', 'b'])
  runs.turned({ claimed: ['a'], hasRoom: true })
  runs.turned({ claimed: ['b'], hasRoom: true })
  await clock.advance('1s')
  expect(told).toEqual([['taken', 0]])
})

it('others are told of what the worker does not claim soon, and at once if it has no more room', async () => {
  const { clock, told, runs } = watched()
  runs.turned({ claimed: [], hasRoom: true })
  runs.recorded(['a', 'b'])
  runs.turned({ claimed: ['a'], hasRoom: true })
  await clock.advance('1s')
  expect(told).toEqual([['runs', 10]])
  runs.recorded(['c', 'd'])
  runs.turned({ claimed: ['c'], hasRoom: false })
  expect(told).toEqual([
    ['runs', 10],
    ['runs', 1000],
  ])
})

it('others are told of very many runs at once', () => {
  const { told, runs } = watched()
  runs.turned({ claimed: [], hasRoom: true })
  runs.recorded(Array.from({ length: 101 }, (_, i) => `run ${i}`))
  expect(told).toEqual([['runs', 0]])
})

it('what is left is told of when the store is closed', () => {
  const { told, runs } = watched()
  runs.turned({ claimed: [], hasRoom: true })
  runs.recorded(['a'])
  runs.flush()
  runs.flush()
  expect(told).toEqual([['runs', 0]])
})
