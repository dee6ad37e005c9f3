import type { App } from '../../app/rota.js'
import { shortIds } from '../../app/runs/short-ids.js'

/** Returns the shortest unique prefix of an id. */
export type ShortId = (id: string) => string

/** Looks up the shortest unique prefix of each id. */
export async function shortIdOf(app: App, ids: Iterable<string>): Promise<ShortId> {
  const found = await shortIds(await app.store(), ids)
  return (id) => found.get(id) ?? id
}
