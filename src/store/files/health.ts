import type { RunId } from '../../kernel/identity/identity.js'
import type { Instant } from '../../time/instant.js'
import type { StoreHealth, StoreWarning } from '../store-health.js'
import type { CommitLoop } from './commit-loop.js'
import { foreignWarnings } from './foreign.js'
import { schemaVersion } from './open.js'
import { readQueueFile } from './layout/queue-file.js'
import type { Session } from './session.js'
import type { State } from './state.js'

/** How many faults a deep look names. */
const maxFaults = 20

/** What is looked at. */
interface Look {
  readonly session: Session
  readonly now: Instant
  /** The runs whose files are read. */
  readonly runs: Iterable<RunId>
  /** How many faults are enough. */
  readonly limit: number
}

/**
 * What the store knows of its own health; a deep look reads every file of a run. It reads without the lock, so that
 * nobody waits for it. A file may then move between the look at the tables and the look at the directory, so whatever
 * seems wrong is looked at once more under the lock.
 */
export async function health(
  loop: CommitLoop,
  request: { session: Session; isDeep: boolean; now: Instant },
): Promise<StoreHealth> {
  const { session, isDeep, now } = request
  const first = await loop.read((state) => ({
    answer: answerOf(state),
    ...suspects(state, { session, now, runs: isDeep ? state.keptRuns() : [], limit: Infinity }),
  }))
  const isSuspect = first.foreign.length > 0 || first.runs.size > 0
  if (!isSuspect) return { ...first.answer, faults: session.faults, warnings: session.warnings }
  return await loop.readLocked((state) => {
    const look = { session, now, runs: first.runs.keys(), limit: maxFaults }
    const { foreign, runs } = suspects(state, look)
    const faults = [...new Set([...session.faults, ...runs.values()])]
    const warnings = new Map([...session.warnings, ...foreign].map((one) => [one.message, one]))
    return { ...answerOf(state), faults, warnings: [...warnings.values()] }
  })
}

function answerOf(state: State): Omit<StoreHealth, 'faults' | 'warnings'> {
  const { id, epoch, highestAt } = state.tables
  return { id, schemaVersion, engine: 'files', sizeBytes: undefined, epoch, highestAt }
}

/** What seems wrong with files of others, and with files of runs. */
function suspects(state: State, look: Look): { foreign: StoreWarning[]; runs: Map<RunId, string> } {
  const { session, now } = look
  const { directory } = session
  return { foreign: foreignWarnings({ directory, state, now }), runs: fileFaults(state, look) }
}

function fileFaults(state: State, { session, runs, limit }: Look): Map<RunId, string> {
  const { directory } = session
  const found = new Map<RunId, string>()
  for (const run of runs) {
    if (found.size >= limit) break
    const place = state.placeOf(run)
    if (place === undefined) continue
    const path = `${place.folder}/${place.name}`
    const read = readQueueFile(directory, path)
    if (read.kind === 'fault') found.set(run, `${path} ${read.fault}`)
  }
  return found
}
