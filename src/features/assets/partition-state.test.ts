import { describe, expect, it } from 'vitest'
import { partitionState, type Made, type PartitionState } from './partition-state.js'

/** The events of a partition with one upstream partition. */
type Happening = 'upstream' | 'begin' | 'done' | 'failed' | 'cancelled'

const happenings: readonly Happening[] = ['upstream', 'begin', 'done', 'failed', 'cancelled']

/** Every sequence of this many events in which a run ends only after it began. */
function ordersOf(length: number): readonly (readonly Happening[])[] {
  if (length === 0) return [[]]
  return ordersOf(length - 1).flatMap((order) =>
    happenings.filter((next) => isPossible(order, next)).map((next) => [...order, next]),
  )
}

function isPossible(order: readonly Happening[], next: Happening): boolean {
  const runEvents = order.filter((happening) => happening !== 'upstream')
  const isRunning = runEvents.at(-1) === 'begin'
  if (next === 'upstream') return true
  return next === 'begin' ? !isRunning : isRunning
}

/** The facts that a store would keep of a sequence; the positions are the instants. */
function stateAfter(order: readonly Happening[]): PartitionState {
  let upstreamAt: number | undefined
  let seenAt: number | undefined
  let done: Made | undefined
  let failedAt: number | undefined
  let isRunning = false
  for (const [at, happening] of order.entries()) {
    if (happening === 'upstream') upstreamAt = at
    else isRunning = happening === 'begin'
    if (happening === 'begin') seenAt = upstreamAt
    if (happening === 'done') done = { at, upstreamAt: seenAt }
    if (happening === 'failed') failedAt = at
  }
  return partitionState({
    isRunning,
    done,
    failedAt,
    upstreamAt: upstreamAt === undefined ? [] : [upstreamAt],
  })
}

/** The same rule written differently: find the run that produced the data, and check what came after it began. */
function expected(order: readonly Happening[]): PartitionState {
  const runs = order.flatMap((happening, at) => (happening === 'upstream' ? [] : [{ happening, at }]))
  if (runs.at(-1)?.happening === 'begin') return 'running'
  const ends = runs.filter(({ happening }) => happening === 'done' || happening === 'failed')
  const last = ends.at(-1)
  if (last === undefined) return 'missing'
  if (last.happening === 'failed') return 'failed'
  const beganAt = runs[runs.indexOf(last) - 1]?.at ?? 0
  return order.slice(beganAt).includes('upstream') ? 'stale' : 'done'
}

describe('F13: the state of a partition', () => {
  it('is correct after every sequence of up to seven events', () => {
    const orders = [0, 1, 2, 3, 4, 5, 6, 7].flatMap(ordersOf)
    expect(orders.length).toBeGreaterThan(1000)
    for (const order of orders) expect(stateAfter(order), order.join(' → ')).toBe(expected(order))
  })

  it('an unfinished run takes precedence', () => {
    expect(partitionState({ isRunning: true, done: { at: 1 }, failedAt: 2, upstreamAt: [3] })).toBe('running')
  })

  it('upstream data that was produced during its run makes it stale, although the run ended later', () => {
    expect(partitionState({ done: { at: 10, upstreamAt: 1 }, upstreamAt: [1, 5] })).toBe('stale')
    expect(partitionState({ done: { at: 10, upstreamAt: 5 }, upstreamAt: [1, 5] })).toBe('done')
  })

  it('data that was produced without upstream data is stale as soon as there is some', () => {
    expect(partitionState({ done: { at: 10 }, upstreamAt: [] })).toBe('done')
    expect(partitionState({ done: { at: 10 }, upstreamAt: [11] })).toBe('stale')
  })

  it('an older failure does not hide newer data, a newer one does', () => {
    expect(partitionState({ done: { at: 10 }, failedAt: 9 })).toBe('done')
    expect(partitionState({ done: { at: 10 }, failedAt: 10 })).toBe('done')
    expect(partitionState({ done: { at: 8 }, failedAt: 9 })).toBe('failed')
    expect(partitionState({ failedAt: 9 })).toBe('failed')
  })
})
