import type { Claim } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'

/** For how long a worker claims nothing, so that others take its share. */
const giveUpMs = 20

/** How many such turns in a row show that runs wait all the time. */
const turnsInARow = 20

/** How long it keeps a share after it gave one up; doubled each time that nobody else took it. */
const firstKeepMs = 250
const longestKeepMs = 60_000

/** One turn that requested runs. */
export interface ShareOfTurn {
  readonly claims: readonly Claim[]
  /** How many runs it can perform at once. */
  readonly concurrency: number
  /** Whether the runs before this turn took less time than the turn, and nothing else is being performed. */
  readonly isQuick: boolean
}

/**
 * Some limits leave a worker only a few runs at a time. If these take no time, the worker is busy with turns for them, and
 * so are the others with theirs: at one server, few large turns are several times faster than many small ones. So a worker
 * whose share is smaller than its concurrency gives it up for a moment. If no other worker takes it, this worker
 * takes it again, and keeps it for longer.
 */
export class SmallShare {
  readonly #clock: Clock
  readonly #onOver: () => void
  #inARow = 0
  /** The share that it gave up last, until it is known what became of it. */
  #givenUp: number | undefined
  #keepMs = firstKeepMs
  #keepUntilMs = 0
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(clock: Clock, onOver: () => void) {
    this.#clock = clock
    this.#onOver = onOver
  }

  /** Whether the worker claims nothing now; `onOver` is called when it may claim again. */
  get isResting(): boolean {
    return this.#cancel !== undefined
  }

  /** Notes a turn; may give up the share. */
  turned({ claims, concurrency, isQuick }: ShareOfTurn): void {
    if (this.#isClosed) return
    const nowMs = this.#clock.monotonicMs()
    if (this.#givenUp !== undefined) {
      const isBack = claims.length >= this.#givenUp
      this.#keepMs = isBack ? Math.min(longestKeepMs, 2 * this.#keepMs) : firstKeepMs
      this.#keepUntilMs = nowMs + this.#keepMs
      this.#givenUp = undefined
    }
    const isSmall = isQuick && claims.length > 0 && claims.length < concurrency && claims.every(isLimited)
    this.#inARow = isSmall ? this.#inARow + 1 : 0
    if (this.#inARow < turnsInARow || nowMs < this.#keepUntilMs) return
    this.#inARow = 0
    this.#givenUp = claims.length
    this.#cancel = this.#clock.timer(giveUpMs, () => {
      this.#cancel = undefined
      this.#onOver()
    })
  }

  /** Ends a rest without a call of `onOver`; a turn that is still going on begins none. */
  close(): void {
    this.#isClosed = true
    this.#cancel?.()
    this.#cancel = undefined
  }
}

function isLimited(claim: Claim): boolean {
  return claim.isLimited === true
}
