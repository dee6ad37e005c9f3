import type { RunId } from '../../kernel/identity/identity.js'
import { runIdLength } from '../../kernel/identity/identity.js'
import type { Store } from '../../store/port.js'

/**
 * Ten characters of time and six more: a printed id still identifies one run after others were recorded for the same
 * millisecond, which a shorter prefix would not.
 */
export const shownIdLength = 16

/** How many ids are looked up together. */
const lookedUpAtOnce = 50

/** For each id its shortest unique prefix in the store; never shorter than `shownIdLength`. */
export async function shortIds(
  store: Pick<Store, 'runsByPrefix'>,
  ids: Iterable<RunId>,
): Promise<ReadonlyMap<RunId, string>> {
  const all = [...new Set(ids)]
  const found = new Map<RunId, string>()
  for (let i = 0; i < all.length; i += lookedUpAtOnce) {
    const part = all.slice(i, i + lookedUpAtOnce)
    const texts = await Promise.all(part.map((id) => shortest(store, id)))
    for (const [index, id] of part.entries()) found.set(id, texts[index] ?? id)
  }
  return found
}

async function shortest(store: Pick<Store, 'runsByPrefix'>, id: RunId): Promise<string> {
  let length = shownIdLength
  while (length < runIdLength) {
    const begun = id.slice(0, length)
    const other = (await store.runsByPrefix(begun, 2)).find((run) => run.id !== id)
    if (other === undefined) return begun
    length = commonLength(id, other.id) + 1
  }
  return id
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}
