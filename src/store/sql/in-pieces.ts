import { nextTurn } from '../../time/turn.js'

/** More items go into another transaction, so that no batch delays others for long. */
export const itemsPerCommit = 1000

/** Splits a batch, since only each item is atomic; the answers have the order of the items. */
export async function inPieces<Item, Answer>(
  batch: readonly Item[],
  commit: (piece: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  if (batch.length <= itemsPerCommit) return commit(batch)
  const pieces: Promise<readonly Answer[]>[] = []
  for (let i = 0; i < batch.length; i += itemsPerCommit)
    pieces.push(commit(batch.slice(i, i + itemsPerCommit)))
  return (await Promise.all(pieces)).flat()
}

/** Performs one part after the other until none is left. Other work of the process continues in between. */
export async function inTurns<Next>(
  ask: (from: Next | undefined) => Promise<Next | undefined>,
): Promise<void> {
  let next = await ask(undefined)
  while (next !== undefined) {
    await nextTurn()
    next = await ask(next)
  }
}
