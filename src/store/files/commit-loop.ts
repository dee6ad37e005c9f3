import type { RotaError } from '../../kernel/definition/errors.js'
import { CommitQueue } from '../commit-queue.js'
import { toRotaError } from './errors.js'
import type { DirectoryLock } from './lock.js'
import type { Session } from './session.js'
import type { State } from './state.js'

/** The most operations of one transaction: a larger group would keep other processes waiting for too long. */
const maxGroup = 500

interface Waiting {
  readonly apply: (state: State) => unknown
  readonly resolve: (answer: never) => void
  readonly reject: (error: unknown) => void
}

/** Commits operations in groups, each group in one transaction, and reads between them. */
export type CommitLoop = ReturnType<typeof commitLoop>

/** Makes the commit loop of a session. */
export function commitLoop({ session, lock }: { session: Session; lock: DirectoryLock }) {
  const queue = new CommitQueue<Waiting>({
    takeGroup: (waiting) => waiting.splice(0, maxGroup),
    transact: (take) =>
      lock.hold(() => {
        const group = take()
        return session.transact((state) => group.map(({ apply }) => apply(state)))
      }),
    toRotaError: (error) => toRotaError(error, session.url),
  })
  const reading = async <T>(read: () => Promise<T>): Promise<T> => {
    if (queue.ended !== undefined) throw queue.ended
    try {
      return await read()
    } catch (error) {
      throw queue.explain(error)
    }
  }
  return {
    /** Why the loop no longer accepts operations; undefined while it does. */
    get ended(): RotaError | undefined {
      return queue.ended
    },

    /** Applies an operation together with all others that are waiting; resolves after the commit. */
    commit: <T>(apply: (state: State) => T): Promise<T> => queue.add((caller) => ({ apply, ...caller })),

    /** Reads committed data. Takes the lock only if the store has to be loaded again. */
    read: <T>(ask: (state: State) => T): Promise<T> =>
      reading(async () => ask(session.readCommitted() ?? (await lock.hold(() => session.refresh())))),

    /** Reads committed data while holding the lock. */
    readLocked: <T>(ask: (state: State) => T): Promise<T> =>
      reading(() => lock.hold(() => ask(session.refresh()))),

    /** Applies the waiting operations and refuses later ones. */
    close: (reason: RotaError): Promise<void> => queue.close(reason),
  }
}
