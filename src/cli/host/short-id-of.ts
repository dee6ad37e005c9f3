import type { App } from '../../app/rota.js'
import { shortIds } from '../../app/runs/short-ids.js'

/** Gives the beginning of an id that names one run. */
export type ShortId = (id: string) => string

/** Looks up how much of each id names one run of the store. */
export async function shortIdOf(app: App, ids: Iterable<string>): Promise<ShortId> {
  const found = await shortIds(await app.store(), ids)
  return (id) => found.get(id) ?? id
}
