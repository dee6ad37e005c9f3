/**
 * Closed pieces of time, kept in the browser: a reader who comes back, or loads the page again, reads none of them twice.
 * A browser that keeps nothing only loses speed, so every failure here means "not kept".
 */
import type { Timeline } from '../../../../src/client/ui-operations.js'

const mostTiles = 60
/** Larger answers are read again. */
const mostCharacters = 1_500_000
/** History may be pruned: what was kept is trusted for a day. */
const keptMs = 24 * 3_600_000
const table = 'tiles'

interface Kept {
  readonly key: string
  readonly at: number
  readonly text: string
}

/** The piece that was kept under a key. */
export async function keptTile(key: string): Promise<Timeline | undefined> {
  try {
    const kept = await asked((await opened()).transaction(table).objectStore(table).get(key))
    const { at, text } = kept as Kept
    return Date.now() - at > keptMs ? undefined : (JSON.parse(text) as Timeline)
  } catch {
    return undefined
  }
}

/** Keeps a piece; the oldest ones make room for it. */
export async function keepTile(key: string, tile: Timeline): Promise<void> {
  try {
    const text = JSON.stringify(tile)
    if (text.length > mostCharacters) return
    const tiles = (await opened()).transaction(table, 'readwrite').objectStore(table)
    await asked(tiles.put({ key, at: Date.now(), text } satisfies Kept))
    const keys = await asked(tiles.index('at').getAllKeys())
    for (const old of keys.slice(0, Math.max(0, keys.length - mostTiles))) tiles.delete(old)
  } catch {
    // Not kept.
  }
}

let database: Promise<IDBDatabase> | undefined

async function opened(): Promise<IDBDatabase> {
  database ??= open()
  return await database
}

async function open(): Promise<IDBDatabase> {
  // Two dashboards of one host have paths of their own.
  const request = indexedDB.open(`rota${location.pathname}`, 1)
  request.addEventListener('upgradeneeded', () => {
    request.result.createObjectStore(table, { keyPath: 'key' }).createIndex('at', 'at')
  })
  return await asked(request)
}

async function asked<Value>(request: IDBRequest<Value>): Promise<Value> {
  return await new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB')))
  })
}
