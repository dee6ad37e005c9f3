import { systemClock } from '../../time/clock.js'
import type { Store } from '../../store/port.js'
import type { MoveProgress, MoveReport } from './move-store.js'
import { absoluteUrl } from '../../formats/store-url.js'
import { openStore } from '../store/open-store.js'
import { shownUrl } from '../store/store-address.js'
import { loadTriggerKinds } from '../features.js'

/** The URLs of the two stores. */
export interface MigrateOptions {
  readonly from: string
  readonly to: string
  /** The base of relative paths; default: the working directory. */
  readonly directory?: string | undefined
  /** Only counts what would be moved, and writes nothing. */
  readonly isDry?: boolean | undefined
  readonly onProgress?: ((progress: MoveProgress) => void) | undefined
}

/** Moves everything from one store to a new one, and compares the two. */
export async function migrateStore(options: MigrateOptions): Promise<MoveReport> {
  const { from, to, directory = process.cwd(), isDry = false, onProgress } = options
  const { assertIdle, countFacts, moveStore } = await import('./move-store.js')
  const source = await open(from, directory, false)
  try {
    if (isDry)
      return { from: source.url, to: shownUrl(absoluteUrl(to, directory)), counts: await countFacts(source) }
    // Checked before the target is created: a refused move leaves nothing behind.
    await assertIdle(source, systemClock.now())
    const target = await open(to, directory, true)
    try {
      const kinds = await loadTriggerKinds()
      return await moveStore({ kinds, from: source, to: target, now: systemClock.now(), onProgress })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function open(url: string, directory: string, create: boolean): Promise<Store> {
  return await openStore(absoluteUrl(url, directory), {
    clock: systemClock,
    directory,
    durability: 'full',
    create,
  })
}
