import type { HolderNotice } from '../../model/fact.js'
import type { Turn, TurnAnswer } from '../store.js'
import type { CommitLoop } from './commit-loop.js'
import { plainTurn } from './plain.js'
import type { Remembered } from './remembered.js'
import { mayTurnTogether, turn } from './turn.js'

/** From this number of ends on, the server has enough to do with them to claim on another connection meanwhile. */
const manyEnds = 64

/** Two loops that commit at the same time, where there is so much that the server can do both at once. */
export interface Lanes {
  /** All that is not usual, and what is little. */
  readonly loop: CommitLoop
  readonly beside: CommitLoop
  readonly remembered: Remembered
}

/**
 * Takes a worker's turn. A usual one with many ends is two transactions at once, its ends and its claims: they have no row
 * in common. Where one of them fails, the worker is told so, and finds what the other has done as after any lost answer.
 */
export async function takeTurn(lanes: Lanes, request: Turn): Promise<TurnAnswer> {
  const { loop, beside, remembered } = lanes
  const isLarge = request.finished.length >= manyEnds && request.want !== undefined
  if (!isLarge || plainTurn(remembered, request) === undefined) return await commit(loop, remembered, request)
  const [ended, taken] = await Promise.all([
    commit(loop, remembered, { ...request, want: undefined }),
    commit(beside, remembered, { ...request, finished: [] }),
  ])
  return {
    ...taken,
    expired: ended.expired || taken.expired,
    finished: ended.finished,
    notices: once([...ended.notices, ...taken.notices]),
  }
}

function commit(loop: CommitLoop, remembered: Remembered, request: Turn): Promise<TurnAnswer> {
  return loop.commit((session) => turn(session, request), {
    items: 1 + request.finished.length,
    isAlone: !mayTurnTogether(remembered, request),
    plain: plainTurn(remembered, request),
  })
}

/** Both transactions may have been told the same. */
function once(notices: readonly HolderNotice[]): HolderNotice[] {
  return [...new Map(notices.map((notice) => [JSON.stringify(notice), notice])).values()]
}
