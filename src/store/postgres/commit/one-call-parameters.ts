/* The parameters of the one-call function: one list for each column. A list that is not needed stays empty. */
import { boundText, maxLogLineBytes } from '../../../kernel/definition/bounds.js'
import type { LogLine, NewRun } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import type { Finished, Turn } from '../../port.js'
import { jobOf, limitedQueueOf, type Catalog } from '../../sql/catalog.js'
import { endEffectCode, originCode, slotsOf, toJson } from '../../sql/rows/run-rows.js'
import { slotsText } from '../../sql/runs/concurrency-slots.js'
import { isBare } from '../../sql/runs/enqueue.js'
import type { SqlScalar } from '../../sql/statement.js'
import type { Database } from '../connection/database.js'
import type { KnownClaim, ProcessCache } from './process-cache.js'
import type { OneCallPart } from './one-call-part.js'
import { sharedLimitOf, type SharedLimit } from './passing-on.js'

/** One argument of the function. */
export type Parameter = Parameters<Database['get']>[1]

/** How many more candidates are read if only plain ones may be prefetched. */
const slackAhead = 32

/** The parameters of one call, and the limit that its ends share. */
export interface OneCall {
  readonly parameters: Parameter[]
  readonly shared: SharedLimit | undefined
  /** Whether the call does without the lock of that limit. */
  readonly passesOn: boolean
}

/** The parameters of all parts: new runs, log lines, the slots to lock, and the turn. */
export function oneCallOf(remembered: ProcessCache, parts: readonly OneCallPart[]): OneCall {
  const runs: NewRun[] = []
  const at: Instant[] = []
  for (const { enqueue } of parts) {
    if (enqueue === undefined) continue
    for (const run of enqueue.runs) {
      runs.push(run)
      at.push(enqueue.now)
    }
  }
  const lines = parts.flatMap(({ log }) => log ?? [])
  const { turn, catalog } = parts.find((part) => part.turn !== undefined) ?? {}
  const ended = turn?.finished.map(({ run }) => remembered.claimOf(run)) ?? []
  const isTurn = turn !== undefined && catalog !== undefined
  const shared = isTurn ? sharedLimitOf({ turn, catalog }, ended, runs) : undefined
  const passesOn = shared !== undefined && remembered.passingOn.mayTry(shared)
  const from = passesOn ? remembered.waitPositions(shared.name).of(shared.name, turn?.now ?? 0) : undefined
  const parameters = [
    ...newRuns(remembered, runs, at),
    ...logLines(lines),
    slotKeys(runs, at, passesOn ? [] : ended),
    ...(isTurn ? turnOf(remembered, { turn, catalog, ended }) : noTurn),
    passesOn,
    shared?.jobLimit ?? null,
    from?.priority ?? null,
    from?.runAt ?? null,
    from?.seq ?? null,
  ]
  return { parameters, shared, passesOn }
}

function newRuns(remembered: ProcessCache, runs: readonly NewRun[], at: readonly Instant[]): Parameter[] {
  const isOther = (run: NewRun): boolean => !isBare(run)
  const others = <T extends SqlScalar>(isNeeded: (run: NewRun) => boolean, of: (run: NewRun) => T): T[] =>
    runs.some(isNeeded) ? runs.map(of) : []
  return [
    runs.map(({ id }) => id),
    runs.map(({ job }) => job),
    runs.map(({ priority }) => priority),
    runs.map(({ runAt }) => runAt),
    runs.map(({ dueAt }) => dueAt),
    runs.map(({ origin }) => originCode(origin)),
    runs.map(({ payload }) => toJson(payload)),
    at,
    others(isOther, ({ trigger = null }) => trigger),
    others(isOther, ({ version = null }) => version),
    others(isOther, ({ partition = null }) => partition),
    others(
      ({ slots }) => slots.length > 0,
      ({ slots }) => slotsText(slots),
    ),
    others(isOther, ({ endEffect }) => endEffectCode(remembered.endEffects, endEffect)),
    others(
      ({ uniqueKey }) => uniqueKey !== undefined,
      ({ uniqueKey = null }) => uniqueKey,
    ),
    others(isOther, ({ uniqueUntil = null }) => uniqueUntil),
    others(isOther, ({ labels }) => toJson(labels)),
  ]
}

function logLines(lines: readonly LogLine[]): Parameter[] {
  const texts = lines.map(({ text }) => boundText(text, maxLogLineBytes))
  return [
    lines.map(({ run }) => run),
    lines.map(({ attempt }) => attempt),
    lines.map(({ at }) => at),
    lines.map(({ level }) => level),
    texts,
    texts.map((text) => Buffer.byteLength(text)),
  ]
}

/** The slots that runs take or free. */
function slotKeys(
  runs: readonly NewRun[],
  at: readonly Instant[],
  ended: readonly (KnownClaim | undefined)[],
): string[] {
  const keys = new Set<string>()
  for (const [i, { slots, runAt }] of runs.entries())
    if (runAt <= (at[i] as Instant)) for (const { key } of slots) keys.add(key)
  for (const claim of ended) for (const { key } of slotsOf(claim?.gates ?? null)) keys.add(key)
  return [...keys]
}

// biome-ignore format: one line for each part of a turn: the worker, ends, queues, claims
const noTurn: readonly Parameter[] = [
  null, 0, 0,
  [], [], [], [], [], [], [],
  [], [], [],
  null, null, null, null, null, 0, 0, 0, 0,
]

function turnOf(
  remembered: ProcessCache,
  given: { turn: Turn; catalog: Catalog; ended: readonly (KnownClaim | undefined)[] },
): Parameter[] {
  const { worker, now, finished, claimRequest } = given.turn
  const { jobs, slots = 0, prefetch = 0, prefetchLimited = 0 } = claimRequest ?? {}
  const from = jobs?.map((job) => remembered.positions.of(job, now))
  const queues = queuesOf(given)
  return [
    worker,
    now,
    remembered.heardOf(worker),
    ...endsOf(finished, given.ended),
    [...queues.keys()],
    [...queues.values()].map(({ limit }) => limit),
    [...queues.values()].map(({ left }) => left),
    jobs ?? null,
    queues.size === 0 ? [] : (jobs?.map((job) => limitedQueueOf(given.catalog, job) ?? null) ?? []),
    from?.map((position) => position?.priority ?? null) ?? null,
    from?.map((position) => position?.runAt ?? null) ?? null,
    from?.map((position) => position?.seq ?? null) ?? null,
    slots,
    prefetch,
    prefetchLimited,
    prefetch > 0 ? slackAhead + 1 : 1,
  ]
}

function endsOf(finished: readonly Finished[], ended: readonly (KnownClaim | undefined)[]): Parameter[] {
  const hasSlots = ended.some((claim) => claim?.gates != null)
  return [
    finished.map(({ run }) => run),
    ended.map((claim) => claim?.place ?? null),
    finished.map(({ startedAt = null }) => startedAt),
    finished.map(({ endedAt }) => endedAt),
    finished.map(({ outcome }) => toJson(outcome.result)),
    hasSlots ? ended.map((claim) => claim?.job ?? null) : [],
    hasSlots ? ended.map((claim) => claim?.gates ?? null) : [],
  ]
}

/** The limited queues of ended runs and of wanted jobs. */
function queuesOf({
  turn,
  catalog,
  ended,
}: {
  turn: Turn
  catalog: Catalog
  ended: readonly (KnownClaim | undefined)[]
}): Map<string, { readonly limit: number; left: number }> {
  const queues = new Map<string, { readonly limit: number; left: number }>()
  if (catalog.queueLimits.size === 0) return queues
  const use = (job: string, left: number): void => {
    const { queue } = jobOf(catalog, job)
    const limit = catalog.queueLimits.get(queue)
    if (limit === undefined) return
    const known = queues.get(queue)
    if (known === undefined) queues.set(queue, { limit, left })
    else known.left += left
  }
  for (const claim of ended) if (claim !== undefined) use(claim.job, 1)
  for (const job of turn.claimRequest?.jobs ?? []) use(job, 0)
  return queues
}
