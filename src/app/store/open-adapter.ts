import type { HeartbeatOptions } from '../../engine/worker/keep-alive.js'
import type { Clock } from '../../time/clock.js'
import { chainsOnly, type EndEffects } from '../../kernel/run/end-effect.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { tlsModeFault } from '../../store/postgres/connection/address.js'
import type { Store } from '../../store/port.js'
import { notAStore, pathOf, splitUrl } from '../../formats/store-url.js'

/** The options of opening a store. */
export interface OpenOptions {
  readonly clock: Clock
  /** The base of relative paths. */
  readonly directory: string
  readonly durability: Durability
  /** Whether a missing store is created; with false it is an error. */
  readonly create: boolean
  /** Called with the number of each commit, by a store that counts them. */
  readonly onCommit?: ((number: number) => void) | undefined
  /** Ends the wait for a database that cannot be reached. */
  readonly signal?: AbortSignal | undefined
  /** Opens it read-only, in addition to the connections of the process that writes. */
  readonly reader?: ReaderAccess | undefined
}

/** The time limit of a query of a reader process. */
const longestReadMs = 5000

/** How a reader process uses a store. */
export interface ReaderAccess {
  /** Lets the writing process store computed state. */
  readonly changeState: Store['changeState']
  /** The files from which the writing process reads definitions. */
  readonly definitionFiles: () => Promise<readonly string[]>
}

/** `full` survives a power loss; `normal` survives any crash of a process and is faster. */
export type Durability = 'full' | 'normal'

/** Opens the store of a URL; its adapter is loaded on demand. */
export async function openAdapter(url: string, options: OpenOptions, endEffects: EndEffects): Promise<Store> {
  const [scheme, rest] = splitUrl(url)
  switch (scheme) {
    case 'memory': {
      const { sharedStores } = await import('../../store/memory/shared-stores.js')
      const shared = sharedStores.get(rest)
      if (shared !== undefined) return shared(endEffects)
      const { openMemoryStore } = await import('../../store/memory/memory-store.js')
      const { emptyTables } = await import('../../store/memory/tables.js')
      return openMemoryStore(emptyTables(endEffects))
    }
    case 'sqlite': {
      const { openSqliteStore } = await import('../../store/sqlite/sqlite-store.js')
      const { clock, durability, create, onCommit } = options
      const readOnly = options.reader !== undefined
      const path = pathOf(rest, options.directory)
      return await openSqliteStore({ path, url, clock, durability, create, onCommit, endEffects, readOnly })
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
      const { clock, durability, create, signal, reader } = options
      const readerMs = reader === undefined ? undefined : longestReadMs
      return await openPostgresStore({ url, clock, durability, create, signal, endEffects, readerMs })
    }
    default:
      throw notAStore(url)
  }
}

/** The driver reads the variable itself if the URL has no TLS mode. */
function assertTlsMode(): void {
  const fault = tlsModeFault(process.env['PGSSLMODE'])
  if (fault !== undefined) throw new RotaError('STORE_URL', `the variable PGSSLMODE: ${fault}`)
}

/** The part of a store that renewing a lease needs. */
export type LeaseStore = HeartbeatOptions['store'] & Pick<Store, 'close'>

/** Opens the part of an existing store that a heartbeat needs. */
export async function openLease(url: string, options: Omit<OpenOptions, 'create'>): Promise<LeaseStore> {
  const [scheme, rest] = splitUrl(url)
  if (scheme !== 'files') return await openAdapter(url, { ...options, create: false }, chainsOnly)
  const { openFilesLease } = await import('../../store/files/files-lease.js')
  const { clock, durability, directory } = options
  return openFilesLease({ path: pathOf(rest, directory), url, clock, durability })
}
