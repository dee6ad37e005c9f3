import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aDue } from '../../../test/fixtures/due-trigger.js'
import type { StoredArrival } from './arrival.js'
import { defineAsset } from './definition.js'
import type { PartitionRecord } from './end-effect.js'
import { byKeys } from '../../kernel/partition/define.js'
import { partitionKey, planUpstream, type UpstreamFacts } from './plan.js'
import { candidateOf, touchedBy, type Follower } from './touch.js'

const keys = ['k1', 'k2', 'k3'] as const
const assets = ['a', 'b'] as const
const now = 1000

const { job, follower: trigger } = defineAsset('down', {
  partitions: byKeys(keys),
  deps: [...assets],
  materialize: () => undefined,
})
const specs = new Map(assets.map((name) => [name as string, byKeys(keys)]))
const follower: Follower = { name: 'down', asset: job.asset, specs }

/** One upstream partition: never produced, or produced by a run at an instant. */
const upstream = fc.record({
  doneAt: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
  isFailedSince: fc.boolean(),
})
/** One downstream partition: when the run that produced it began. */
const downstream = fc.record({
  readAt: fc.option(fc.integer({ min: 0, max: 21 }), { nil: undefined }),
  isWaiting: fc.boolean(),
})
const world = fc.record({
  up: fc.array(upstream, { minLength: 6, maxLength: 6 }),
  down: fc.array(downstream, { minLength: 3, maxLength: 3 }),
  arrived: fc.subarray([0, 1, 2, 3, 4, 5]),
})
type World = typeof world extends fc.Arbitrary<infer T> ? T : never

describe('planUpstream', () => {
  it('F13: plans the same as a naive implementation of the rule', () => {
    fc.assert(
      fc.property(world, (drawn) => {
        const facts = factsOf(drawn)
        const tick = planUpstream(aDue({ ...trigger }, { jobDefinition: job }), facts, now)
        expect(tick.runs.map(({ partition }) => partition ?? '').toSorted()).toEqual(naive(drawn))
        expect(tick.stateChanges).toEqual(
          facts.arrivals.map(({ item, revision }) => {
            return { kind: 'arrival', name: 'asset:down', item, revision, value: undefined }
          }),
        )
        expect(new Set(tick.runs.map(({ id }) => id)).size).toBe(tick.runs.length)
        expect(tick.nextAt).toBeUndefined()
      }),
    )
  })

  it('F13: plans the same run for the same set of upstream runs, and another one for a newer set', () => {
    const drawn: World = {
      up: Array.from({ length: 6 }, () => ({ doneAt: 5, isFailedSince: false })),
      down: Array.from({ length: 3 }, () => ({ readAt: undefined, isWaiting: false })),
      arrived: [0],
    }
    const plan = (one: World) => planUpstream(aDue({ ...trigger }, { jobDefinition: job }), factsOf(one), now)
    const [first] = plan(drawn).runs
    const [same] = plan({ ...drawn, arrived: [0, 3] }).runs
    const [newer] = plan({ ...drawn, up: drawn.up.with(3, { doneAt: 6, isFailedSince: false }) }).runs
    expect(first).toMatchObject({ partition: 'k1', origin: 'upstream', dueAt: 5, endEffect: 'asset' })
    expect(same?.id).toBe(first?.id)
    expect(newer?.id).not.toBe(first?.id)
  })

  it('ticks again if arrivals are left, and takes none while it is paused', () => {
    const facts = factsOf({ up: [], down: [], arrived: [] })
    const due = aDue({ ...trigger }, { jobDefinition: job })
    expect(planUpstream(due, { ...facts, hasMore: true }, now).nextAt).toBe(now)
    expect(planUpstream(due, facts, now)).toMatchObject({ nextAt: undefined, takesArrivals: true })
    const hold = {
      id: 1,
      target: 'trigger:asset:down',
      fromAt: 0,
      untilAt: 2000,
      actor: '',
      note: '',
      catchUp: false,
    }
    const paused = planUpstream({ ...due, holds: [hold as never] }, { ...facts, hasMore: true }, now)
    expect(paused).toMatchObject({ nextAt: 2000, runs: [] })
    expect(paused.stateChanges).toBeUndefined()
    const off = aDue({ ...trigger, enabled: false }, { jobDefinition: job })
    const drawn = factsOf({
      up: Array.from({ length: 6 }, () => ({ doneAt: 5, isFailedSince: false })),
      down: [],
      arrived: [0],
    })
    expect(planUpstream(off, drawn, now)).toMatchObject({ runs: [], nextAt: undefined, stateChanges: [{}] })
  })
})

/** A key is produced if both upstream assets have it, an arrival affects it, no run of it is pending, and it has not read the newer of the two. */
function naive({ up, down, arrived }: World): string[] {
  return keys.filter((_, key) => {
    const isTouched = arrived.includes(key) || arrived.includes(key + 3)
    const [one, other] = [up[key]?.doneAt, up[key + 3]?.doneAt]
    const { readAt = -1, isWaiting = false } = down[key] ?? {}
    if (!isTouched || isWaiting || one === undefined || other === undefined) return false
    // With equal times it is unknown whether it was read.
    return readAt <= Math.max(one, other)
  })
}

function factsOf({ up, down, arrived }: World): UpstreamFacts {
  const arrivals = arrived.map((index): StoredArrival => {
    const [asset, partition] = placeOf(index)
    const arrival = { asset, partition, run: `r${index}`, at: up[index]?.doneAt ?? 0 }
    return { item: partitionKey(asset, partition), revision: index + 1, arrival, next: undefined }
  })
  const touches = new Map<string, StoredArrival[]>()
  for (const noted of arrivals) {
    const touched = touchedBy(follower, noted.arrival)
    for (const label of touched.kind === 'each' ? touched.labels : []) {
      touches.set(label, [...(touches.get(label) ?? []), noted])
    }
  }
  const candidates = [...touches].flatMap(([label, own]) => {
    const touch = { arrivals: own.map(({ arrival }) => arrival), isWalked: false }
    return candidateOf(follower, label, { touch, now }) ?? []
  })
  const partitions = new Map<string, PartitionRecord>()
  for (const [index, { doneAt, isFailedSince }] of up.entries()) {
    if (doneAt === undefined && !isFailedSince) continue
    partitions.set(partitionKey(...placeOf(index)), {
      state: isFailedSince ? 'failed' : 'done',
      run: `r${index}`,
      at: 50,
      doneAt: doneAt ?? null,
      doneRun: doneAt === undefined ? null : `r${index}@${doneAt}`,
      readAt: doneAt ?? null,
    })
  }
  for (const [index, { readAt }] of down.entries()) {
    if (readAt === undefined) continue
    const made = { state: 'done', run: 'x', at: 50, doneAt: 50, doneRun: 'x', readAt } as const
    partitions.set(partitionKey('down', keys[index] as string), made)
  }
  const waiting = new Set(keys.filter((_, index) => down[index]?.isWaiting === true))
  return { arrivals, hasMore: false, candidates, partitions, waiting }
}

function placeOf(index: number): [string, string] {
  return [index < 3 ? 'a' : 'b', keys[index % 3] as string]
}
