import type { Clock } from '../../../time/clock.js'
import type { News } from '../../hint.js'

/** How long the worker of this process has to claim new runs before the others are told of them. */
const waitMs = 10

/** More runs at once are told of immediately: a single worker does not claim them all. */
const most = 100

/**
 * New runs that the worker of this process will probably claim at once. If every process were told of them, all would
 * look for runs that are gone by then. The others are told of what is left, and at once if this worker has no room.
 */
export class OwnRuns {
  readonly #clock: Clock
  readonly #tell: (news: News) => void
  readonly #unclaimed = new Set<string>()
  #cancel: (() => void) | undefined
  #hasRoom = false

  constructor({ clock, tell }: { clock: Clock; tell: (news: News) => void }) {
    this.#clock = clock
    this.#tell = tell
  }

  /** Runs were recorded that can be claimed. */
  recorded(runs: readonly string[]): void {
    if (runs.length === 0) return
    for (const run of runs) this.#unclaimed.add(run)
    if (!this.#hasRoom || this.#unclaimed.size > most) this.flush()
    else this.#cancel ??= this.#clock.timer(waitMs, () => this.flush())
  }

  /** The worker of this process has taken a turn. */
  turned({ claimed, hasRoom }: { claimed: readonly string[]; hasRoom: boolean }): void {
    this.#hasRoom = hasRoom
    if (this.#unclaimed.size === 0) return
    for (const run of claimed) this.#unclaimed.delete(run)
    if (this.#unclaimed.size === 0) this.#end('taken')
    else if (!hasRoom) this.flush()
  }

  /** Tells the others of what is left. */
  flush(): void {
    if (this.#unclaimed.size > 0) this.#end('runs')
  }

  #end(news: News): void {
    this.#unclaimed.clear()
    this.#cancel?.()
    this.#cancel = undefined
    this.#tell(news)
  }
}
