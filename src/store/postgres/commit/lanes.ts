import type { HolderNotice } from '../../../kernel/run/fact.js'
import type { Turn, TurnAnswer } from '../../port.js'
import type { CommitLoop } from './commit-loop.js'
import { oneCallTurn } from './one-call.js'
import type { OwnRuns } from '../connection/own-runs.js'
import type { ProcessCache } from './process-cache.js'
import { turn } from '../../sql/runs/turn.js'
import { perform } from '../../sql/verb.js'
import { mayClaimMeanwhile } from './may-claim-meanwhile.js'

/** From this number of ends on, the server ends and claims at the same time, on two connections. */
const manyEnds = 64

/** Two loops that commit at the same time if a turn is large. */
export interface Lanes {
  /** The loop for everything but the claims of large turns. */
  readonly loop: CommitLoop
  readonly beside: CommitLoop
  readonly remembered: ProcessCache
  readonly ownRuns: OwnRuns
}

/**
 * Takes a worker's turn. A large one-call turn is two transactions at the same time, its ends and its claims: they have no
 * row in common. If one of them fails, the answer has the result of the other, and says which part failed.
 */
export async function takeTurn(lanes: Lanes, request: Turn): Promise<TurnAnswer> {
  const answer = await answerTo(lanes, request)
  const { claims } = answer
  const hasRoom = request.claimRequest !== undefined && claims.length < request.claimRequest.slots
  lanes.ownRuns.turned({ claimed: claims.map(({ run }) => run), hasRoom })
  return answer
}

async function answerTo(lanes: Lanes, request: Turn): Promise<TurnAnswer> {
  const { loop, beside, remembered } = lanes
  const isLarge = request.finished.length >= manyEnds && request.claimRequest !== undefined
  const isSplit =
    isLarge && mayClaimMeanwhile(remembered, request) && oneCallTurn(remembered, request) !== undefined
  if (!isSplit) return await commit(loop, remembered, request)
  const freesSlots = request.finished.some(({ run }) => remembered.claimOf(run)?.gates != null)
  const [ended, taken] = await Promise.allSettled([
    commit(loop, remembered, { ...request, claimRequest: undefined }),
    commit(beside, remembered, { ...request, finished: [] }),
  ])
  // The result of one transaction counts even if the other failed: no end is submitted again, no notice gets lost.
  if (ended.status === 'rejected') {
    if (taken.status === 'rejected') throw ended.reason
    return { ...taken.value, failed: { part: 'finished', error: ended.reason as unknown } }
  }
  if (taken.status === 'rejected') {
    return { ...ended.value, failed: { part: 'claims', error: taken.reason as unknown } }
  }
  return {
    ...taken.value,
    expired: ended.value.expired || taken.value.expired,
    finished: ended.value.finished,
    // Runs that the ends admitted may have come too late for the claims.
    more: taken.value.more || freesSlots,
    notices: once([...ended.value.notices, ...taken.value.notices]),
  }
}

function commit(loop: CommitLoop, remembered: ProcessCache, request: Turn): Promise<TurnAnswer> {
  return loop.commit((session) => perform(turn(session, request)), {
    items: 1 + request.finished.length,
    isExclusive: false,
    oneCall: oneCallTurn(remembered, request),
  })
}

/** Both transactions may return the same notice. */
function once(notices: readonly HolderNotice[]): HolderNotice[] {
  return [...new Map(notices.map((notice) => [JSON.stringify(notice), notice])).values()]
}
