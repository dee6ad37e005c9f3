import { chainsOnly, type EndEffects } from '../../../kernel/run/end-effect.js'
import type { Instant } from '../../../time/instant.js'
import type { Catalog } from '../../sql/catalog.js'
import { RateLooks } from './rate-looks.js'
import { ScanCursors } from './scan-cursor.js'

/** A run that this process claimed. */
export interface KnownClaim {
  readonly job: string
  /** Its concurrency slots as they stand in its row. */
  readonly gates: string | null
  /** Whether its end changes something besides the run. */
  readonly hasEndEffect: boolean
  /** Where its row stands, unless somebody has moved it since. */
  readonly place: string | undefined
}

/** How many claims are remembered; of older ones nothing is known. */
const maxRemembered = 100_000

/** What this process remembers of the store to save looking it up. Nothing here is the truth. */
export class ProcessCache {
  catalog: Catalog | undefined
  /** What this process's usual transactions have to know, so that one that was given up cannot come too late. */
  fence = 0
  /** Whether something was given up of which nobody knows where it is: the fence is raised before anything else is sent. */
  isFenceDue = false
  /** Whether more runs were ready than the last turn claimed. */
  isMoreReady = false
  readonly positions = new ScanCursors()
  readonly rates = new RateLooks()
  #highestAt: Instant = 0
  #writtenAt: Instant = 0
  /** What this process is called among those that write. */
  readonly writer: string
  readonly endEffects: EndEffects
  readonly #claims = new Map<string, KnownClaim>()
  readonly #heard = new Map<string, number>()

  constructor(writer: string, endEffects: EndEffects = chainsOnly) {
    this.writer = writer
    this.endEffects = endEffects
  }

  /** The highest time handed in since the store was opened. */
  get highestAt(): Instant {
    return this.#highestAt
  }

  noteTime(now: Instant): void {
    if (now > this.#highestAt) this.#highestAt = now
  }

  /** Whether the highest time is worth writing down: by so much is it ahead of the one that was. */
  isTimeToWrite(stepMs: number): boolean {
    return this.#highestAt >= this.#writtenAt + stepMs && this.#highestAt > 0
  }

  timeWritten(at: Instant): void {
    this.#writtenAt = Math.max(this.#writtenAt, at)
  }

  rememberClaim(run: string, claim: KnownClaim): void {
    // A claim that somebody else ended is never taken out again, so the oldest ones make room.
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

  /** The last notice that a worker was given. */
  heardOf(worker: string): number {
    return this.#heard.get(worker) ?? 0
  }

  /** The last notice that was given to each worker, where there was one. */
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
