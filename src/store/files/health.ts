import type { Instant } from '../../time/instant.js'
import type { StoreHealth } from '../store.js'
import type { Directory } from './directory.js'
import { foreignFaults } from './foreign.js'
import { schemaVersion } from './open.js'
import { readQueueFile } from './queue-file.js'
import type { Session } from './session.js'
import type { State } from './state.js'

/** How many faults a deep look names. */
const maxFaults = 20

/** What the store knows of its own health; a deep look reads every file of a run. */
export function health(
  state: State,
  request: { session: Session; isDeep: boolean; now: Instant },
): StoreHealth {
  const { id, epoch, highestAt } = state.tables
  const { directory, faults } = request.session
  const found = [...faults, ...foreignFaults({ directory, state, now: request.now })]
  return {
    id,
    schemaVersion,
    engine: 'files',
    sizeBytes: undefined,
    epoch,
    highestAt,
    faults: [...new Set(request.isDeep ? [...found, ...deepFaults(state, directory)] : found)],
  }
}

function deepFaults(state: State, directory: Directory): string[] {
  const found: string[] = []
  for (const { folder, name } of state.places()) {
    if (found.length >= maxFaults) break
    const read = readQueueFile(directory, `${folder}/${name}`)
    if (read.kind === 'fault') found.push(`${folder}/${name} ${read.fault}`)
  }
  return found
}
