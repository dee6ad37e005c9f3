import { walkFiles, type Step, type Walk } from './walk.js'

/** Names of one directory that a walk holds at once. */
const namesAtOnce = 100_000

/**
 * The walk of one sensor, which stands still between two polls of a sweep, so that a large directory is not read anew for
 * each of them. Nothing depends on it: a poll that goes on elsewhere, or in another process, begins a walk of its own.
 */
export class KeptWalk {
  #kept: { readonly steps: AsyncGenerator<Step, void, undefined>; readonly place: string } | undefined
  #signal: AbortSignal | undefined

  /** Takes up the walk after a path, for this signal. */
  resume(walk: Omit<Walk, 'namesAtOnce' | 'isStopped'>, signal: AbortSignal): WalkInPoll {
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

/** A walk as one poll has it. */
interface WalkInPoll {
  /** The next steps; fewer than asked for at the end of the walk. */
  next(count: number): Promise<readonly Step[]>
  /** Leaves the walk for the poll that goes on after this path, which is that of its last step. */
  keep(after: string): void
}

function placeOf(
  { root, base, depth, followSymlinks }: Omit<Walk, 'namesAtOnce' | 'isStopped'>,
  after: string,
): string {
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
