import type { RunId } from '../../kernel/identity/identity.js'
import type { Instant } from '../../time/instant.js'
import type { StoreHealth } from '../store-health.js'
import type { CommitLoop } from './commit-loop.js'
import { foreignWarnings } from './foreign.js'
import type { Directory } from './layout/directory.js'
import { schemaVersion } from './open.js'
import { readQueueFile } from '../../formats/queue-file.js'
import type { Session } from './session.js'
import type { State } from './state.js'

/** The most faults that a deep check names. */
const maxFaults = 20

/**
 * Returns the health of the store; a deep check reads every file of a run. It reads without the lock, so that nobody
 * waits for it. A file may then move between reading the tables and reading the directory, so every suspicion is
 * checked again under the lock.
 */
export async function health(
  loop: CommitLoop,
  { session, isDeep, now }: { session: Session; isDeep: boolean; now: Instant },
): Promise<StoreHealth> {
  const { directory } = session
  const first = await loop.read((state) => ({
    answer: answerOf(state),
    foreign: foreignWarnings({ directory, state, now }),
    runs: isDeep ? fileFaults(state, { directory, runs: state.runsWithFile(), limit: Infinity }) : noFaults,
  }))
  const isSuspect = first.foreign.length > 0 || first.runs.size > 0
  if (!isSuspect) return { ...first.answer, faults: session.faults, warnings: session.warnings }
  return await loop.readLocked((state) => {
    const runs = fileFaults(state, { directory, runs: first.runs.keys(), limit: maxFaults })
    const faults = [...new Set([...session.faults, ...runs.values()])]
    const foreign = foreignWarnings({ directory, state, now })
    const warnings = new Map([...session.warnings, ...foreign].map((one) => [one.message, one]))
    return { ...answerOf(state), faults, warnings: [...warnings.values()] }
  })
}

const noFaults: ReadonlyMap<RunId, string> = new Map()

function answerOf(state: State): Omit<StoreHealth, 'faults' | 'warnings'> {
  const { id, epoch, highestAt } = state.tables
  return { id, schemaVersion, engine: 'files', sizeBytes: undefined, epoch, highestAt }
}

/** What is wrong with the files of these runs, up to a limit. */
function fileFaults(
  state: State,
  { directory, runs, limit }: { directory: Directory; runs: Iterable<RunId>; limit: number },
): Map<RunId, string> {
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
