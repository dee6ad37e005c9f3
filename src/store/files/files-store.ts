/**
 * The file store: a directory that people read with `cat`, one host, any number of processes.
 *
 * All decisions are made by the functions of the memory store, on tables that each process keeps in memory. A
 * transaction takes the lock, reads what other processes have committed, applies its operations, writes their changes
 * as one line of the journal (the commit), updates the files, and records that the files are up to date.
 *
 * After a crash: before the line is durable, nothing has happened. After it, the process that takes the lock next
 * updates the files from the line; every step of that may be repeated. A reader without the lock reads only lines
 * whose changes are in the files as well.
 */
import { RotaError } from '../../kernel/definition/errors.js'
import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { Fact } from '../../kernel/run/fact.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { auditedAccess } from '../memory/audit/audited-access.js'
import { facts, takeFact } from '../memory/facts.js'
import { signsOf, workers } from '../memory/reading.js'
import { expire, heartbeat, register, turn } from '../memory/work.js'
import { tableVerbs } from '../memory/table-verbs.js'
import type { Tables, WorkerRow } from '../memory/tables.js'
import { PollWatch } from '../poll-watch.js'
import type { Beat, Store } from '../port.js'
import { Beats } from './beats.js'
import { commitLoop, type CommitLoop } from './commit-loop.js'
import { Directory } from './layout/directory.js'
import { realDisk, type Disk } from './disk.js'
import { health } from './health.js'
import { Journal } from './journal.js'
import type { DirectoryLock } from './lock.js'
import { log, readLog } from './layout/logs.js'
import { prepareDirectory } from './open.js'
import { Session } from './session.js'

/** How long closing waits to write the highest time, which the next start can do without. */
const lastWriteMs = 2000

/** A wait for the lock of at least this long is added to a lease; the shortest lease is as long. */
const longWaitMs = 1000

/** How a file store is opened. */
export interface FilesOptions {
  readonly path: string
  /** The name of the store in messages; default: `files:<path>`. */
  readonly url?: string | undefined
  /** `full` survives a power loss; `normal` survives any crash of a process. Default: `full`. */
  readonly durability?: 'full' | 'normal' | undefined
  /** Whether a missing directory is created; default: true. */
  readonly create?: boolean | undefined
  /** Used to wait, to poll for changes by others, and for the age of files that others wrote. */
  readonly clock: Clock
  readonly disk?: Disk | undefined
  /** What the ends of runs change; default: chains only. */
  readonly endEffects?: EndEffects | undefined
}

/** Opens a file store, and creates it if it is missing. */
export async function openFilesStore(options: FilesOptions): Promise<Store> {
  const { path, clock, durability = 'full', create = true, disk = realDisk, endEffects } = options
  const url = options.url ?? `files:${path}`
  const isDurable = durability === 'full'
  const directory = new Directory({ path, disk, isDurable })
  const { lock, meta } = await prepareDirectory({ directory, clock, url, create })
  const journal = new Journal({ directory, url, isDurable })
  const session = new Session({ directory, journal, clock, url, id: meta.store, endEffects })
  const loop = commitLoop({ session, lock })
  try {
    await loop.read(() => undefined)
  } catch (error) {
    session.close()
    lock.close()
    throw error
  }
  return storeOf({ session, lock, loop, clock, url })
}

function storeOf(parts: {
  session: Session
  lock: DirectoryLock
  loop: CommitLoop
  clock: Clock
  url: string
}): Store {
  const { session, lock, loop, clock, url } = parts
  const { directory } = session
  const watch = new PollWatch({
    clock,
    version: () => versionOf(session),
    isOver: () => loop.ended !== undefined,
  })
  const beats = new Beats({ directory, clock })
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const isBroken = loop.ended !== undefined
    watch.close()
    await loop.close(new RotaError('STORE_CLOSED', `${url} was used after it was closed`))
    if (!isBroken) await lock.hold(() => session.writeTime(), lastWriteMs).catch(() => undefined)
    session.close()
    lock.close()
  }
  const read = <T>(ask: (tables: Tables) => T): Promise<T> => loop.read(({ tables }) => ask(tables))
  const change = <T>(apply: (tables: Tables) => T): Promise<T> => loop.commit(({ tables }) => apply(tables))
  const access = { read, change, write: change }
  const own = {
    expire: (request) =>
      loop.commit((state) => {
        // The process that expires workers also moves files that can never become a run.
        if (request.limit > 0) session.failMalformed(state)
        beats.record(state.tables, state.tables.workers.values(), request.deadline)
        return expire(state.tables, request)
      }),

    register(worker) {
      const waited = waitTimer(clock)
      return change((tables) => register(tables, { ...worker, now: worker.now + waited() }))
    },

    async heartbeat(request) {
      const committed = change((tables) => heartbeat(tables, request))
      if (!(await isSlow(committed, { clock, ms: request.leaseMs / 6 }))) return await committed
      const renewed = renewIfPossible(beats, request)
      return renewed === 'late' || renewed === 'expired' ? await committed : renewed
    },

    turn(request) {
      const waited = waitTimer(clock)
      return change((tables) => {
        const worker = tables.workers.get(request.worker)
        const waitedMs = waited()
        if (worker !== undefined) beats.record(tables, [worker], request.now + waitedMs)
        if (worker !== undefined && worker.leaseUntil >= request.now)
          extendLease(tables, worker, { ...request, waitedMs })
        return turn(tables, request)
      })
    },

    workers: () => read((tables) => workers(beats.shown(tables))),
    signsOf: (request) => read((tables) => signsOf(beats.shown(tables), request)),
    log: (lines) => loop.commit((state) => log(directory, state, lines)),

    logs: ({ run, after = 0, limit }) =>
      read(({ runs }) => {
        const lines = runs.has(run) ? readLog(directory, run) : []
        return lines.filter(({ seq }) => seq > after).slice(0, limit)
      }),

    facts: (request) =>
      read((tables) => {
        const { facts: found, next } = facts(tables, request)
        return { facts: found.flatMap((fact) => withLog(directory, fact)), next }
      }),

    takeFacts: (batch) =>
      loop.commit((state) => {
        for (const fact of batch) {
          if (fact.kind === 'log') log(directory, state, fact.lines)
          else takeFact(state.tables, fact)
        }
      }),

    health: ({ now, deep = false }) => health(loop, { session, isDeep: deep, now }),

    watch(hint) {
      if (loop.ended !== undefined) throw loop.ended
      return watch.add(hint)
    },

    close() {
      closing ??= close()
      return closing
    },
  } satisfies Partial<Store>
  const store: Store = {
    ...tableVerbs(access),
    ...own,
    url,
    audited: (record) => ({ ...store, ...tableVerbs(auditedAccess(access, record)), ...own }),
  }
  return store
}

/** Changes with every commit, and with every file that is added to or removed from `pending`. */
function versionOf(session: Session): string {
  session.readCommitted()
  const { directory, seq } = session
  return `${seq} ${directory.disk.lstat(directory.of('pending'))?.mtimeMs}`
}

/** Measures how long an operation has waited for the lock; a short wait counts as 0. A long one must not use up a lease. */
function waitTimer(clock: Clock): () => number {
  const startMs = clock.monotonicMs()
  return () => {
    const waitedMs = Math.floor(clock.monotonicMs() - startMs)
    return waitedMs >= longWaitMs ? waitedMs : 0
  }
}

/** Extends a lease that ends soon by the time its worker has waited. */
function extendLease(tables: Tables, worker: WorkerRow, turn: { now: Instant; waitedMs: number }): void {
  const leftMs = worker.leaseUntil - (turn.now + turn.waitedMs)
  if (worker.isGone || turn.waitedMs === 0 || leftMs > worker.leaseMs / 3) return
  worker.leaseUntil += turn.waitedMs
  tables.touched?.workers.add(worker)
}

/** Returns `late` on a disk error: the commit that follows reports it. */
function renewIfPossible(beats: Beats, request: Parameters<Beats['renew']>[0]): Beat | 'late' {
  try {
    return beats.renew(request)
  } catch {
    return 'late'
  }
}

/** Whether a promise takes longer than this. */
async function isSlow(
  doing: Promise<unknown>,
  { clock, ms }: { clock: Clock; ms: number },
): Promise<boolean> {
  const over = new AbortController()
  const done = doing.then(
    () => false,
    () => false,
  )
  const slow = clock.sleep(ms, over.signal).then(() => true)
  const answer = await Promise.race([done, slow])
  over.abort()
  return answer
}

/** Adds the log of a run, which is a separate file. */
function withLog(directory: Directory, fact: Fact): Fact[] {
  if (fact.kind !== 'run') return [fact]
  const lines = readLog(directory, fact.run.id)
  return lines.length === 0 ? [fact] : [fact, { kind: 'log', lines }]
}
