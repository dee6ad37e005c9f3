import * as fc from 'fast-check'

/** One operation; its small numbers select from the rows that exist when it is played. */
export type Operation =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'job'; readonly job: number; readonly limits: readonly [number, number, number] }
  | { readonly kind: 'queue'; readonly concurrency: number }
  | { readonly kind: 'trigger'; readonly trigger: number; readonly shape: number; readonly overlap: number }
  | { readonly kind: 'end'; readonly trigger: number; readonly cancelPending: boolean }
  | { readonly kind: 'plan'; readonly limit: number }
  | { readonly kind: 'plan-again' }
  | { readonly kind: 'enqueue'; readonly runs: readonly RandomRun[] }
  | { readonly kind: 'register' }
  | { readonly kind: 'heartbeat'; readonly worker: number }
  | { readonly kind: 'retire'; readonly worker: number }
  | { readonly kind: 'drain'; readonly worker: number; readonly isDraining: boolean }
  | RandomTurn
  | { readonly kind: 'late'; readonly claim: number }
  | { readonly kind: 'expire'; readonly beforeMs: number; readonly limit: number; readonly settle: boolean }
  | { readonly kind: 'cancel' | 'retry' | 'advance'; readonly run: number }
  | { readonly kind: 'hold'; readonly target: number; readonly forMs: number }
  | { readonly kind: 'release'; readonly target: number; readonly catchUp: boolean }
  | { readonly kind: 'prune'; readonly ageMs: number; readonly limit: number; readonly isNamed: boolean }
  | { readonly kind: 'log'; readonly run: number }
  | { readonly kind: 'remove-job'; readonly job: number }
  | { readonly kind: 'note'; readonly name: number; readonly revision: number; readonly value: number }
  | { readonly kind: 'forget'; readonly limit: number }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'move' }

/** A run to enqueue. */
export interface RandomRun {
  readonly job: number
  readonly priority: number
  readonly delayMs: number
  readonly group: number
  readonly unique: number
  readonly uniqueForMs: number
  readonly trigger: number
  readonly endEffect: number
}

/** A worker's turn: which of its claims end and how, and what it claims. */
export interface RandomTurn {
  readonly kind: 'turn'
  readonly worker: number
  readonly ends: readonly { readonly claim: number; readonly how: number }[]
  readonly slots: number
  readonly prefetch: number
  readonly prefetchLimited: number
  readonly jobs: number
}

const pick = fc.nat({ max: 30 })
const shortMs = fc.integer({ min: 0, max: 45_000 })

const randomRun: fc.Arbitrary<RandomRun> = fc.record({
  job: pick,
  priority: fc.integer({ min: -1, max: 1 }),
  delayMs: fc.constantFrom(-10_000, 0, 0, 5000, 60_000),
  group: fc.nat({ max: 4 }),
  unique: fc.nat({ max: 6 }),
  uniqueForMs: fc.constantFrom(0, 0, 60_000),
  trigger: fc.nat({ max: 8 }),
  endEffect: fc.nat({ max: 5 }),
})

const turn: fc.Arbitrary<RandomTurn> = fc.record({
  kind: fc.constant('turn' as const),
  worker: pick,
  ends: fc.array(fc.record({ claim: pick, how: fc.nat({ max: 9 }) }), { maxLength: 4 }),
  slots: fc.nat({ max: 3 }),
  prefetch: fc.nat({ max: 2 }),
  prefetchLimited: fc.nat({ max: 2 }),
  jobs: fc.nat({ max: 3 }),
})

const kinds: readonly { weight: number; arbitrary: fc.Arbitrary<Operation> }[] = [
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('wait'), ms: shortMs }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('job'),
      job: pick,
      limits: fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 2 }), fc.nat({ max: 2 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('queue'), concurrency: fc.nat({ max: 3 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('trigger'), trigger: pick, shape: pick, overlap: pick }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('end'), trigger: pick, cancelPending: fc.boolean() }),
  },
  { weight: 7, arbitrary: fc.record({ kind: fc.constant('plan'), limit: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('plan-again') }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('enqueue'),
      runs: fc.array(randomRun, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('register') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('heartbeat'), worker: pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('retire'), worker: pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('drain'), worker: pick, isDraining: fc.boolean() }),
  },
  { weight: 12, arbitrary: turn },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('late'), claim: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('expire'),
      beforeMs: fc.constantFrom(0, 30_000, 120_000),
      limit: fc.integer({ min: 1, max: 9 }),
      settle: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('cancel', 'retry', 'advance'), run: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('hold'),
      target: pick,
      forMs: fc.constantFrom(0, 30_000, 90_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('release'), target: pick, catchUp: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('prune'),
      isNamed: fc.boolean(),
      ageMs: fc.constantFrom(0, 60_000),
      limit: fc.integer({ min: 1, max: 20 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('log'), run: pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove-job'), job: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('note'),
      name: pick,
      revision: fc.nat({ max: 3 }),
      value: fc.nat({ max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget'), limit: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move') }) },
]

/** A story of operations. */
export const operations: fc.Arbitrary<readonly Operation[]> = fc.array(fc.oneof(...kinds), {
  minLength: 1,
  maxLength: 120,
  size: 'max',
})
