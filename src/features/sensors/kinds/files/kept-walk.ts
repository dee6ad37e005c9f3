import { walkFiles, type Step, type Walk } from './walk.js'

/** How many names of one directory a walk keeps in memory. */
const namesAtOnce = 100_000

type Place = Omit<Walk, 'namesAtOnce' | 'isStopped'>

/**
 * The walk of one sensor, which is suspended between two polls of a sweep, so that a large directory is not read again
 * for each of them. It is only a cache: a poll that continues elsewhere, or in another process, starts a new walk.
 */
export class KeptWalk {
  #kept: { readonly steps: AsyncGenerator<Step, void, undefined>; readonly place: string } | undefined
  #signal: AbortSignal | undefined

  /** Resumes the walk after a path, with this signal. */
  resume(walk: Place, signal: AbortSignal): WalkInPoll {
    this.#signal = signal
    const isStopped = (): boolean => this.#signal?.aborted === true
    const kept = this.#kept?.place === placeOf(walk, walk.after) ? this.#kept : undefined
    const steps = kept?.steps ?? walkFiles({ ...walk, namesAtOnce, isStopped })
    this.#kept = undefined
    return {
      next: (count) => nextSteps(steps, count),
      keep: (after) => {
        this.#kept = { steps, place: placeOf(walk, after) }
      },
    }
  }
}

/** A walk during one poll. */
interface WalkInPoll {
  /** The next steps; fewer than requested at the end of the walk. */
  next(count: number): Promise<readonly Step[]>
  /** Keeps the walk for the poll that continues after this path, the path of its last step. */
  keep(after: string): void
}

function placeOf({ root, base, depth, followSymlinks }: Place, after: string): string {
  return JSON.stringify([root, base, depth, followSymlinks, after])
}

async function nextSteps(
  steps: AsyncGenerator<Step, void, undefined>,
  count: number,
): Promise<readonly Step[]> {
  const batch: Step[] = []
  while (batch.length < count) {
    const { value, done } = await steps.next()
    if (done === true) break
    batch.push(value)
  }
  return batch
}
