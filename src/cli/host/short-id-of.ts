import type { StoreReader } from '../../app/store/store-reader.js'
import { shortIds } from '../../app/runs/short-ids.js'

/** Returns the shortest unique prefix of an id. */
export type ShortId = (id: string) => string

/** Looks up the shortest unique prefix of each id. */
export async function shortIdOf(reader: StoreReader, ids: Iterable<string>): Promise<ShortId> {
  const found = await shortIds(await reader.store(), ids)
  return (id) => found.get(id) ?? id
}
