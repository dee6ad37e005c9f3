import { resolve } from 'node:path'
import { RotaError } from '../../../kernel/definition/errors.js'
import type { Store } from '../../../store/port.js'
import { systemClock } from '../../../time/clock.js'
import { openStore } from '../../../app/store/open-store.js'

/** Opens a queue directory, and makes it where there is none. */
export async function makeQueue(path: string, directory: string): Promise<Store> {
  const url = `files:${resolve(directory, path)}`
  return await openStore(url, { clock: systemClock, directory, durability: 'full', create: true })
}

/** Opens a queue directory, where there is one. */
export async function openQueue(path: string, directory: string): Promise<Store | undefined> {
  const url = `files:${resolve(directory, path)}`
  try {
    return await openStore(url, { clock: systemClock, directory, durability: 'full', create: false })
  } catch (error) {
    if (error instanceof RotaError && error.code === 'STORE_NOT_FOUND') return undefined
    throw error
  }
}

/** Has a queue take in what other programs have put into its directory: every transaction does, also one that changes nothing. */
export async function importForeign(store: Store): Promise<void> {
  await store.expire({ now: systemClock.now(), deadline: 0, limit: 0 })
}

/** Why nothing may be planned at present, where a freeze or a stored switch says so. */
export async function planningHold(store: Store): Promise<string | undefined> {
  const holds = await store.holds({ openAt: systemClock.now() })
  const targets: readonly string[] = ['all', 'switch:pipeline', 'switch:scheduler']
  const hold = holds.find((one) => targets.includes(one.target))
  if (hold === undefined) return undefined
  return hold.target === 'all' ? 'everything is frozen' : `the stored ${hold.target} is off`
}
