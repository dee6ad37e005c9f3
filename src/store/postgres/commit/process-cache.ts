import { chainsOnly, type EndEffects } from '../../../kernel/run/end-effect.js'
import type { Instant } from '../../../time/instant.js'
import type { Catalog } from '../../sql/catalog.js'
import { PassingOn } from './passing-on.js'
import { RateLooks } from './rate-looks.js'
import { ScanCursors } from './scan-cursor.js'

/** A run that this process claimed. */
export interface KnownClaim {
  readonly job: string
  /** Its concurrency slots as its row has them. */
  readonly gates: string | null
  /** Whether its end also changes something else. */
  readonly hasEndEffect: boolean
  /** The position of its row (ctid), unless another transaction has moved it since. */
  readonly place: string | undefined
}

/** How many claims are remembered. */
const maxRemembered = 100_000

/** What this process has cached of the store. The store is the truth. */
export class ProcessCache {
  catalog: Catalog | undefined
  /** Sent with every one-call transaction, so that one that was given up is refused if it arrives late. */
  fence = 0
  /** Whether a call was given up without an answer: the fence is raised before the next call. */
  isFenceDue = false
  /** Whether more runs were ready than the last turn claimed. */
  isMoreReady = false
  /** Where the ready runs of jobs begin. */
  readonly positions = new ScanCursors()
  readonly rates = new RateLooks()
  readonly passingOn = new PassingOn()
  #highestAt: Instant = 0
  #writtenAt: Instant = 0
  /** The name of this process among writers. */
  readonly writer: string
  readonly endEffects: EndEffects
  readonly #claims = new Map<string, KnownClaim>()
  readonly #waitPositions = new Map<string, ScanCursors>()
  readonly #heard = new Map<string, number>()

  constructor(writer: string, endEffects: EndEffects = chainsOnly) {
    this.writer = writer
    this.endEffects = endEffects
  }

  /** Where the runs that wait at a job limit begin. Each limit has its own pace of full scans. */
  waitPositions(limit: string): ScanCursors {
    const known = this.#waitPositions.get(limit) ?? new ScanCursors()
    this.#waitPositions.set(limit, known)
    return known
  }

  /** Starts the next scan of these runs at the beginning. */
  forgetWaitPositions(limit: string): void {
    this.#waitPositions.delete(limit)
  }

  /** The highest time since the store was opened. */
  get highestAt(): Instant {
    return this.#highestAt
  }

  noteTime(now: Instant): void {
    if (now > this.#highestAt) this.#highestAt = now
  }

  /** Whether the highest time is so far ahead of the stored one that it should be written. */
  isTimeToWrite(stepMs: number): boolean {
    return this.#highestAt >= this.#writtenAt + stepMs && this.#highestAt > 0
  }

  timeWritten(at: Instant): void {
    this.#writtenAt = Math.max(this.#writtenAt, at)
  }

  rememberClaim(run: string, claim: KnownClaim): void {
    // Claims that another process ended are never removed, so the oldest ones make room.
    if (this.#claims.size >= maxRemembered) {
      for (const oldest of this.#claims.keys()) {
        this.#claims.delete(oldest)
        break
      }
    }
    this.#claims.set(run, claim)
  }

  claimOf(run: string): KnownClaim | undefined {
    return this.#claims.get(run)
  }

  /** The id of the last notice that a worker received. */
  heardOf(worker: string): number {
    return this.#heard.get(worker) ?? 0
  }

  /** The id of the last notice of each worker that received one. */
  get allHeard(): ReadonlyMap<string, number> {
    return this.#heard
  }

  heard(worker: string, notice: number): void {
    this.#heard.set(worker, notice)
  }

  forgetClaim(run: string): void {
    this.#claims.delete(run)
  }
}
