import type { Clock } from '../time/clock.js'

/** If the wall clock differs from the elapsed time by more than this, a trigger may have become due. */
const clockStepMs = 50

/** What to poll, how often, and what to call. */
export interface ChangePollOptions {
  /** The stamp of a store: the same value means that nothing has changed. */
  readonly stamp: () => Promise<unknown>
  readonly clock: Clock
  readonly everyMs: number
  /** Something was committed, or the wall clock was set. */
  readonly onChange: () => void
}

/**
 * The slow poll behind all hints, shared by all loops of a process: as long as nothing is committed and the wall clock
 * does not jump, each loop knows itself when it has something to do.
 */
export class ChangePoll {
  readonly #options: ChangePollOptions
  #stamp: unknown
  #aheadMs: number | undefined
  #cancel: (() => void) | undefined
  #isOver = false
  /** Whether a hint came since the last poll: one question for all hints of an interval. */
  #isHinted = false

  constructor(options: ChangePollOptions) {
    this.#options = options
  }

  start(): void {
    this.#aheadMs ??= this.#readAheadMs()
    this.#arm()
  }

  stop(): void {
    this.#isOver = true
    this.#cancel?.()
  }

  /** Everybody will look because of a hint, once this has resolved: the next poll tells only of what is committed later. */
  async hinted(): Promise<void> {
    if (this.#isHinted) return
    this.#isHinted = true
    this.#stamp = await this.#options.stamp().catch(() => undefined)
  }

  #arm(): void {
    const { clock, everyMs } = this.#options
    if (!this.#isOver) this.#cancel = clock.timer(everyMs, () => void this.#look(), { isPoll: true })
  }

  async #look(): Promise<void> {
    // A store that does not answer may have changed: the loops then use it themselves and report the error.
    const stamp = await this.#options.stamp().catch(() => undefined)
    const aheadMs = this.#readAheadMs()
    this.#isHinted = false
    const isSame = stamp !== undefined && stamp === this.#stamp
    const isSteady = Math.abs(aheadMs - (this.#aheadMs ?? aheadMs)) < clockStepMs
    this.#stamp = stamp
    if (!isSteady) this.#aheadMs = aheadMs
    if (!this.#isOver && !(isSame && isSteady)) this.#options.onChange()
    this.#arm()
  }

  #readAheadMs(): number {
    const { clock } = this.#options
    return clock.now() - clock.monotonicMs()
  }
}
