import type { HeartbeatOptions } from '../../engine/worker/keep-alive.js'
import type { Clock } from '../../time/clock.js'
import { chainsOnly, type EndEffects } from '../../kernel/run/end-effect.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { shownAddress, tlsModeFault } from '../../store/postgres/connection/address.js'
import { DatabaseClock } from '../../store/postgres/connection/clock.js'
import type { Store } from '../../store/port.js'
import { isOnManyHosts, notAStore, pathOf, splitUrl } from '../../formats/store-url.js'
import { loadEndEffects } from '../features.js'

/** How a store is opened. */
export interface OpenOptions {
  readonly clock: Clock
  /** What a relative path is relative to. */
  readonly directory: string
  readonly durability: Durability
  /** Whether it is made where it is missing; otherwise that is an error. */
  readonly create: boolean
  /** Told the number of each commit, by a store that counts them. */
  readonly onCommit?: ((number: number) => void) | undefined
  /** Ends the wait for a database that cannot be reached. */
  readonly signal?: AbortSignal | undefined
}

/** `full` survives power loss; `normal` survives every crash of a process and is faster. */
export type Durability = 'full' | 'normal'

/** Opens the store behind an address; its adapter is loaded only then. */
export async function openStore(url: string, options: OpenOptions): Promise<Store> {
  return await openAdapter(url, options, await loadEndEffects())
}

async function openAdapter(url: string, options: OpenOptions, endEffects: EndEffects): Promise<Store> {
  const [scheme, rest] = splitUrl(url)
  switch (scheme) {
    case 'memory': {
      const { openMemoryStore } = await import('../../store/memory/memory-store.js')
      const { emptyTables } = await import('../../store/memory/tables.js')
      return openMemoryStore(emptyTables(endEffects))
    }
    case 'sqlite': {
      const { openSqliteStore } = await import('../../store/sqlite/sqlite-store.js')
      const { clock, durability, create, onCommit } = options
      const path = pathOf(rest, options.directory)
      return await openSqliteStore({ path, url, clock, durability, create, onCommit, endEffects })
    }
    case 'files': {
      const { openFilesStore } = await import('../../store/files/files-store.js')
      const { clock, durability, create } = options
      const path = pathOf(rest, options.directory)
      return await openFilesStore({ path, url, clock, durability, create, endEffects })
    }
    case 'postgres':
    case 'postgresql': {
      assertTlsMode()
      const { openPostgresStore } = await import('../../store/postgres/postgres-store.js')
      const { clock, durability, create, signal } = options
      return await openPostgresStore({ url, clock, durability, create, signal, endEffects })
    }
    default:
      throw notAStore(url)
  }
}

/** The driver reads the variable by itself where the address says nothing of TLS. */
function assertTlsMode(): void {
  const fault = tlsModeFault(process.env['PGSSLMODE'])
  if (fault !== undefined) throw new RotaError('STORE_URL', `the variable PGSSLMODE: ${fault}`)
}

/** What keeping a lease needs of a store. */
export type LeaseStore = HeartbeatOptions['store'] & Pick<Store, 'close'>

/** Opens what a heartbeat needs of a store that exists; it ends no runs. */
export async function openLease(url: string, options: Omit<OpenOptions, 'create'>): Promise<LeaseStore> {
  const [scheme, rest] = splitUrl(url)
  if (scheme !== 'files') return await openAdapter(url, { ...options, create: false }, chainsOnly)
  const { openFilesLease } = await import('../../store/files/files-lease.js')
  const { clock, durability, directory } = options
  return openFilesLease({ path: pathOf(rest, directory), url, clock, durability })
}

/** The clock to use with a store: many hosts on one database go by its clock, whatever their own ones show. */
export function clockFor(url: string, clock: Clock): Clock {
  return isOnManyHosts(url) ? new DatabaseClock(clock) : clock
}

/** An address as people may see it: without a password. */
export function shownUrl(url: string): string {
  return isOnManyHosts(url) ? shownAddress(url) : url
}
