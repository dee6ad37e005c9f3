import { nextTurn } from '../../time/turn.js'

/** Items beyond it go into a transaction of their own, so that no batch holds the others up for long. */
export const itemsPerCommit = 1000

/** Splits a batch, since only each item is atomic; the answers come in the order of the items. */
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

/** Asks for one part after the other until none is left. Everything else in the process gets its turn in between. */
export async function inTurns<Next>(
  ask: (from: Next | undefined) => Promise<Next | undefined>,
): Promise<void> {
  let next = await ask(undefined)
  while (next !== undefined) {
    await nextTurn()
    next = await ask(next)
  }
}
