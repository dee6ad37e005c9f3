import { resolve } from 'node:path'
import { RotaError } from '../../../kernel/definition/errors.js'
import type { Store } from '../../../store/port.js'
import { systemClock } from '../../../time/clock.js'
import type { ProgramParts } from '../../feature.js'
import type { QueueAt } from './files.js'

/** A queue directory whose store can be opened. */
export interface Queue extends QueueAt {
  readonly program: Pick<ProgramParts, 'openStore'>
}

/** Opens a queue directory, and creates it if it is missing. */
export async function makeQueue({ path, directory, program }: Queue): Promise<Store> {
  return await program.openStore(`files:${resolve(directory, path)}`, { directory, create: true })
}

/** Opens a queue directory; undefined if it is missing. */
export async function openQueue({ path, directory, program }: Queue): Promise<Store | undefined> {
  try {
    return await program.openStore(`files:${resolve(directory, path)}`, { directory, create: false })
  } catch (error) {
    if (error instanceof RotaError && error.code === 'STORE_NOT_FOUND') return undefined
    throw error
  }
}

/** Imports the files of other programs. Each transaction does that, even one that changes nothing. */
export async function importForeign(store: Store): Promise<void> {
  await store.expire({ now: systemClock.now(), deadline: 0, limit: 0 })
}

/** Why nothing may be planned now: a freeze or a stored switch. */
export async function planningHold(store: Store): Promise<string | undefined> {
  const holds = await store.holds({ openAt: systemClock.now() })
  const targets: readonly string[] = ['all', 'switch:pipeline', 'switch:scheduler']
  const hold = holds.find((one) => targets.includes(one.target))
  if (hold === undefined) return undefined
  return hold.target === 'all' ? 'everything is frozen' : `the stored ${hold.target} is off`
}
