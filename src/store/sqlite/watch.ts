import { watch } from 'node:fs'
import type { Clock } from '../../time/clock.js'
import { PollWatch, type WatchWrites } from '../poll-watch.js'
import type { Session } from './session.js'

/** The idle interval if the system does not report writes. */
const restMs = 250

/** After how many polls it is checked whether the file is still the one that was opened. */
const pollsPerFileCheck = 20

/** Changes with every commit of another connection, never with one of this connection. */
export const DATA_VERSION = `pragma data_version`

/**
 * Notifies watchers of commits by other processes, and checks the file from time to time. While idle, the system
 * reports writes to the log: four polls a second would be most of the cost of an idle process.
 */
export function watchFile(options: {
  path: string
  session: Session
  clock: Clock
  isOver: () => boolean
  checkFile: () => void
  /** Whether renewals of leases are told of as well. */
  tellsBeats: boolean
}): PollWatch {
  const { path, session, clock, isOver, checkFile } = options
  let polls = 0
  let isAtRest = false
  const version = (): unknown => {
    if (++polls % pollsPerFileCheck === 0 || isAtRest) checkFile()
    return session.db.value(DATA_VERSION)
  }
  const watchWrites: WatchWrites = (wake) => {
    const end = watchLog(`${path}-wal`, wake)
    isAtRest = end !== undefined
    return end
  }
  const isNews = options.tellsBeats ? undefined : moreThanBeats(session)
  return new PollWatch({ clock, version, isOver, restMs, watchWrites, ...(isNews && { isNews }) })
}

// Relies on: primary key.
const EPOCH = `select epoch from meta where id = 1`

/**
 * Whether there were more commits than renewals of leases since the last call. A renewal is one commit, is counted and
 * raises the epoch by one. Of very many commits a second not each is counted: the slow poll finds what this overlooks.
 */
function moreThanBeats({ db }: Session): () => boolean {
  let known: { readonly commits: number; readonly epoch: number } | undefined
  return () => {
    const before = known
    known = { commits: db.commitNumber, epoch: db.value(EPOCH) as number }
    const beats = known.epoch - (before?.epoch ?? known.epoch)
    return beats === 0 || ((known.commits - (before?.commits ?? 0)) | 0) !== beats
  }
}

/** Undefined if the system has no more watches, or does not support them. */
function watchLog(path: string, wake: () => void): (() => void) | undefined {
  try {
    const watcher = watch(path, { persistent: false }, wake)
    watcher.on('error', wake)
    return () => watcher.close()
  } catch {
    return undefined
  }
}
