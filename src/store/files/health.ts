import type { RunId } from '../../kernel/identity/identity.js'
import type { Instant } from '../../time/instant.js'
import type { StoreHealth, StoreWarning } from '../store-health.js'
import type { CommitLoop } from './commit-loop.js'
import { foreignWarnings } from './foreign.js'
import { schemaVersion } from './open.js'
import { readQueueFile } from '../../formats/queue-file.js'
import type { Session } from './session.js'
import type { State } from './state.js'

/** The most faults that a deep check names. */
const maxFaults = 20

/** What a check examines. */
interface Check {
  readonly session: Session
  readonly now: Instant
  /** The runs whose files are read. */
  readonly runs: Iterable<RunId>
  /** The check stops after this many faults. */
  readonly limit: number
}

/**
 * Returns the health of the store; a deep check reads every file of a run. It reads without the lock, so that nobody
 * waits for it. A file may then move between reading the tables and reading the directory, so every suspicion is
 * checked again under the lock.
 */
export async function health(
  loop: CommitLoop,
  request: { session: Session; isDeep: boolean; now: Instant },
): Promise<StoreHealth> {
  const { session, isDeep, now } = request
  const first = await loop.read((state) => ({
    answer: answerOf(state),
    ...suspects(state, { session, now, runs: isDeep ? state.runsWithFile() : [], limit: Infinity }),
  }))
  const isSuspect = first.foreign.length > 0 || first.runs.size > 0
  if (!isSuspect) return { ...first.answer, faults: session.faults, warnings: session.warnings }
  return await loop.readLocked((state) => {
    const check = { session, now, runs: first.runs.keys(), limit: maxFaults }
    const { foreign, runs } = suspects(state, check)
    const faults = [...new Set([...session.faults, ...runs.values()])]
    const warnings = new Map([...session.warnings, ...foreign].map((one) => [one.message, one]))
    return { ...answerOf(state), faults, warnings: [...warnings.values()] }
  })
}

function answerOf(state: State): Omit<StoreHealth, 'faults' | 'warnings'> {
  const { id, epoch, highestAt } = state.tables
  return { id, schemaVersion, engine: 'files', sizeBytes: undefined, epoch, highestAt }
}

/** Suspected problems with files of others, and with files of runs. */
function suspects(state: State, check: Check): { foreign: StoreWarning[]; runs: Map<RunId, string> } {
  const { session, now } = check
  const { directory } = session
  return { foreign: foreignWarnings({ directory, state, now }), runs: fileFaults(state, check) }
}

function fileFaults(state: State, { session, runs, limit }: Check): Map<RunId, string> {
  const { directory } = session
  const found = new Map<RunId, string>()
  for (const run of runs) {
    if (found.size >= limit) break
    const place = state.placeOf(run)
    if (place === undefined) continue
    const path = `${place.folder}/${place.name}`
    const read = readQueueFile(directory.disk, directory.of(path))
    if (read.kind === 'fault') found.set(run, `${path} ${read.fault}`)
  }
  return found
}
