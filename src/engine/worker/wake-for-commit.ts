import type { Store } from '../../store/port.js'

/**
 * Wakes the worker for the runs of a commit. Where a turn can join the commit, this happens at once: the turn then
 * claims the runs in the transaction that records them. Otherwise it would find nothing before the commit is over.
 */
export function wakeForCommit<T>(store: Store, committed: Promise<T>, wake: () => void): Promise<T> {
  if (store.commitsTurnsApart === true)
    return committed.then((answer) => {
      wake()
      return answer
    })
  wake()
  // Unchanged: the caller goes on before the attempts of a turn that joined.
  return committed
}
