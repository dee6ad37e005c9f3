import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../time/clock.js'
import { conformance } from '../conformance/conformance.js'
import type { OpenedStore } from '../conformance/stage.js'
import type { Store } from '../port.js'
import type { StoreHealth } from '../store-health.js'
import { lawEffects } from '../conformance/effects.js'
import { openFilesStore } from './files-store.js'

const told = process.env['STORIES']
const options = told === undefined ? {} : { stories: Number(told) }

conformance('files', () => openFor(1), options)

// Each call goes to a different process than the previous one, so that each reads the changes of others from files.
conformance('files, through three processes in turn', () => openFor(3), options)

async function openFor(processes: number): Promise<OpenedStore> {
  const directory = mkdtempSync(join(tmpdir(), 'rota-files-'))
  const openOne = () =>
    openFilesStore({
      path: join(directory, 'data'),
      durability: 'normal',
      clock: systemClock,
      endEffects: lawEffects,
    })
  const open = async (): Promise<Store> =>
    inTurn(await Promise.all(Array.from({ length: processes }, openOne)))
  let store = await open()
  return {
    store,
    async reopen() {
      await store.close()
      store = await open()
      return store
    },
    async dispose() {
      await store.close()
      rmSync(directory, { recursive: true })
    },
  }
}

/** A time alone is not worth a write, so only the process that saw it knows it yet. */
async function latest(stores: readonly Store[]): Promise<{ store: Store; health: StoreHealth }> {
  const seen = await Promise.all(
    stores.map(async (store) => ({ store, health: await store.health({ now: 0 }) })),
  )
  return seen.reduce((one, other) => (other.health.highestAt > one.health.highestAt ? other : one))
}

function inTurn(stores: readonly Store[]): Store {
  let calls = 0
  return new Proxy(stores[0] as Store, {
    get(target, key: keyof Store) {
      if (key === 'close') return async () => void (await Promise.all(stores.map((store) => store.close())))
      if (key === 'watch') return (hint: () => void) => target.watch(hint)
      if (key === 'health') return async () => (await latest(stores)).health
      if (key === 'queues') return async () => await (await latest(stores)).store.queues()
      if (key === 'facts')
        return async (request: Parameters<Store['facts']>[0]) =>
          await (await latest(stores)).store.facts(request)
      return stores[calls++ % stores.length]?.[key]
    },
  })
}
