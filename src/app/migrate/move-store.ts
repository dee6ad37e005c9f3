import { hash } from 'node:crypto'
import { coverageOf } from '../../engine/explain/coverage.js'
import { canonicalJson } from '../../kernel/identity/canonical-json.js'
import { isComplete } from '../../kernel/ledger/coverage.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Fact } from '../../kernel/run/fact.js'
import type { Json } from '../../kernel/definition/json.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { TriggerKinds } from '../../engine/trigger-kind.js'

/** The number of facts per page. */
const page = 500

/** The parameters of a move. */
export interface Move {
  /** The kinds of the triggers in both stores. */
  readonly kinds: TriggerKinds
  readonly from: Store
  readonly to: Store
  readonly now: Instant
  /** Called with the progress after every page. */
  readonly onProgress?: ((progress: MoveProgress) => void) | undefined
}

/** The progress of a move. */
export interface MoveProgress {
  readonly phase: 'copying' | 'verifying'
  readonly facts: number
}

/** The result of a move: the number of facts of each kind; both stores are equal. */
export interface MoveReport {
  readonly from: string
  readonly to: string
  readonly counts: FactCounts
}

/** The number of facts of each kind. */
export type FactCounts = Readonly<Partial<Record<Fact['kind'], number>>>

/**
 * Moves all facts of a store to an empty one and compares the two. The old store stays unchanged and frozen, so that no
 * process continues with it by mistake; the new one is frozen until it is complete. If the move fails, the old one is
 * thawed.
 */
export async function moveStore(move: Move): Promise<MoveReport> {
  const { from, to, now } = move
  await assertMovable(move)
  const note = `moved to ${to.url}`
  const isOurs = (await from.hold({ target: 'all', now, actor: 'rota migrate', note })) === 'held'
  const wasOurs = isOurs || (await isFrozenByUs(from))
  const counts = await copyAll(move).catch(async (error: unknown) => {
    // The first error is the one to report.
    if (isOurs) await from.release({ target: 'all', now, catchUp: true }).catch(() => undefined)
    throw error
  })
  // The time of the move is like any other downtime: each trigger catches up by its policy.
  if (wasOurs) await to.release({ target: 'all', now, catchUp: true })
  return { from: from.url, to: to.url, counts }
}

/** The number of facts of each kind in a store. */
export async function countFacts(store: Store): Promise<FactCounts> {
  const counts: Counts = {}
  for await (const facts of factsOf(store)) count(facts, counts)
  return counts
}

type Counts = Partial<Record<Fact['kind'], number>>

function count(facts: readonly Fact[], counts: Counts): void {
  for (const { kind } of facts) counts[kind] = (counts[kind] ?? 0) + 1
}

/** Throws if a move could lose something. */
async function assertMovable({ from, to, now }: Omit<Move, 'onProgress'>): Promise<void> {
  if (from.url === to.url && from.url !== 'memory:')
    throw new RotaError('STORE_MOVE', `${from.url} cannot be moved into itself`)
  await assertIdle(from, now)
  const [run] = await to.runs({ limit: 1 })
  const isEmpty = run === undefined && (await to.triggers()).length === 0 && (await to.jobs()).length === 0
  if (isEmpty && (await to.holds()).length === 0) return
  throw new RotaError('STORE_NOT_EMPTY', `${to.url} is not empty; move into a new store`)
}

/** Throws if a store is in use. */
export async function assertIdle(from: Store, now: Instant): Promise<void> {
  const alive = (await from.workers()).filter(({ leaseUntil }) => leaseUntil >= now)
  if (alive.length > 0) {
    const names = alive.map(({ host, pid }) => `process ${pid} on ${host}`).join(', ')
    throw new RotaError(
      'STORE_MOVE',
      `${from.url} is in use by ${names}; stop it first, or wait for its lease`,
    )
  }
}

async function isFrozenByUs(store: Store): Promise<boolean> {
  const open = await store.holds({ target: 'all' })
  return open.some(({ actor, untilAt }) => actor === 'rota migrate' && untilAt === undefined)
}

/** Copies all facts and verifies them. */
async function copyAll(move: Move): Promise<FactCounts> {
  const counts = await copy(move)
  await assertEqual(move)
  return counts
}

async function copy({ from, to, onProgress }: Move): Promise<FactCounts> {
  const counts: Counts = {}
  let moved = 0
  for await (const facts of factsOf(from)) {
    count(facts, counts)
    for (let i = 0; i < facts.length; i += page) {
      const piece = facts.slice(i, i + page)
      await to.takeFacts(piece)
      moved += piece.length
      onProgress?.({ phase: 'copying', facts: moved })
    }
  }
  return counts
}

/** Compares both stores: each kind of fact by the sum of its digests, and the coverage of every trigger. */
async function assertEqual(move: Move): Promise<void> {
  const [before, after] = [await digestsOf(move.from, move), await digestsOf(move.to, move)]
  const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
    (kind) => before.get(kind) !== after.get(kind),
  )
  if (differing.length > 0) {
    const kinds = differing.join(', ')
    throw new RotaError(
      'STORE_MOVE',
      `${move.to.url} is not equal to ${move.from.url}: ${kinds} differ; another process may have written meanwhile`,
    )
  }
  for (const trigger of await move.to.triggers()) {
    const [old, fresh] = [
      await coverageOf(move.from, trigger, move),
      await coverageOf(move.to, trigger, move),
    ]
    if (isComplete(old) && !isComplete(fresh))
      throw new RotaError(
        'STORE_MOVE',
        `the ledger of ${trigger.trigger.name} is incomplete in ${move.to.url}`,
      )
  }
}

async function digestsOf(store: Store, { onProgress }: Move): Promise<Map<string, string>> {
  const sums = new Map<string, { count: number; sum: bigint }>()
  let read = 0
  for await (const facts of factsOf(store)) {
    for (const fact of facts.flatMap(comparable)) {
      const known = sums.get(fact.kind) ?? { count: 0, sum: 0n }
      // Round-tripped through JSON, so that absent and undefined are equal.
      const text = canonicalJson(JSON.parse(JSON.stringify(fact)) as Json)
      const digest = BigInt(`0x${hash('sha256', text).slice(0, 32)}`)
      sums.set(fact.kind, { count: known.count + 1, sum: BigInt.asUintN(128, known.sum + digest) })
    }
    read += facts.length
    onProgress?.({ phase: 'verifying', facts: read })
  }
  return new Map([...sums].map(([kind, { count, sum }]) => [kind, `${count} ${sum}`]))
}

/** Log lines one by one, however they are grouped; counters without the time, which every call changes. */
function comparable(fact: Fact): (Fact | { kind: 'log'; line: unknown })[] {
  if (fact.kind === 'log')
    return fact.lines.map(({ run, attempt, at, level, text }) => ({
      kind: 'log',
      line: { run, attempt, at, level, text },
    }))
  return fact.kind === 'counters' ? [] : [fact]
}

async function* factsOf(store: Store): AsyncGenerator<readonly Fact[]> {
  let after: string | undefined
  do {
    const { facts, next } = await store.facts({ after, limit: page })
    yield facts
    after = next
  } while (after !== undefined)
}
