import { RotaError } from '../../kernel/definition/errors.js'
import type { Clock } from '../../time/clock.js'
import type { Beat, Store } from '../port.js'
import { Beats } from './beats.js'
import { Directory } from './layout/directory.js'
import { realDisk } from './disk.js'
import { toRotaError } from './errors.js'
import type { FilesOptions } from './files-store.js'

/** The part of a file store that renewing a lease needs. */
export interface FilesLease extends Pick<Store, 'heartbeat'> {
  /** The live workers. */
  workers(): Promise<readonly { readonly id: string }[]>
  close(): Promise<void>
}

/**
 * Renews leases in a file store without opening it: nothing is loaded and no lock is awaited. The store itself is
 * opened only for a late renewal, which has to take the lock.
 */
export function openFilesLease(
  options: FilesOptions & { readonly url: string; readonly clock: Clock },
): FilesLease {
  const { path, url, clock } = options
  const directory = new Directory({ path, disk: realDisk, isDurable: false })
  const beats = new Beats({ directory, clock })
  let isClosed = false

  const renew = (request: Parameters<Store['heartbeat']>[0]): Beat | 'late' => {
    if (isClosed) throw new RotaError('STORE_CLOSED', `${url} was used after it was closed`)
    try {
      return beats.renew(request)
    } catch (error) {
      throw toRotaError(error, url)
    }
  }

  return {
    async heartbeat(request) {
      const beat = renew(request)
      if (beat !== 'late') return beat
      // Loaded on demand: a thread that renews a lease has to start quickly.
      const { openFilesStore } = await import('./files-store.js')
      const store = await openFilesStore({ ...options, create: false })
      try {
        return await store.heartbeat(request)
      } finally {
        await store.close()
      }
    },

    async workers() {
      return beats.live()
    },

    async close() {
      isClosed = true
    },
  }
}
