import type { Clock } from '../../time/clock.js'
import { PollWatch } from '../poll-watch.js'
import type { Session } from './session.js'

/** The interval of a file that nobody else has changed for a while. */
const restMs = 250

/** After how many polls it is checked whether the file is still the one that was opened. */
const pollsPerFileCheck = 20

// Changes with every commit of another connection, never with one of this connection.
const DATA_VERSION = `pragma data_version`

/** Notifies watchers of commits by other processes, and checks the file from time to time. */
export function watchFile(options: {
  session: Session
  clock: Clock
  isOver: () => boolean
  checkFile: () => void
}): PollWatch {
  const { session, clock, isOver, checkFile } = options
  let polls = 0
  const version = (): unknown => {
    if (++polls % pollsPerFileCheck === 0) checkFile()
    return session.db.value(DATA_VERSION)
  }
  return new PollWatch({ clock, version, isOver, restMs })
}
