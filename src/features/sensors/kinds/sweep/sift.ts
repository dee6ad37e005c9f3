import { createHash } from 'node:crypto'
import { boundText } from '../../../../kernel/definition/bounds.js'
import { shown } from '../../../../kernel/definition/faults.js'
import type { Json } from '../../../../kernel/definition/json.js'
import { partitionOf } from '../../../../kernel/partition/partition.js'
import type { Instant } from '../../../../time/instant.js'
import { maxKeyBytes, observationProblem } from '../../polling/read-poll.js'
import type { InitResult, Observation, PollResult } from '../../sensor.js'
import { messageOf } from '../body-pick.js'
import { dateInText } from '../date-in-text.js'
import { pageResult } from '../page-result.js'
import { firstSweepState, type Item, type Sweep, type SweepState } from './sweep.js'

/** A poll of a sweeping sensor returns after this many observations: they become one transaction. */
export const enoughFound = 1000

/** An item that can be turned into an observation; undefined leaves it out. May throw. */
export interface Candidate extends Item {
  observe(): Observation | undefined
}

/** Selects the new items of a sweep, in order; returns the reason if it had to stop. */
export function sift(
  candidates: readonly Candidate[],
  { sweep, at, found }: { sweep: Sweep; at: Instant; found: Observation[] },
): string | undefined {
  for (const candidate of candidates) {
    const verdict = sweep.weigh(candidate, at)
    const observed = verdict.kind === 'new' ? observe(candidate) : undefined
    if (typeof observed === 'string') {
      const problem = `${JSON.stringify(candidate.position)} cannot be reported: ${observed}`
      if (sweep.fail(candidate, problem)) continue
      return `${problem}; nor can too many others, so the rest waits`
    }
    if (observed !== undefined) found.push(observed)
    sweep.pass(candidate, verdict)
  }
  return undefined
}

/** The observation of a candidate, or its problem: one observation that cannot be stored would make all others fail. */
function observe(candidate: Candidate): Observation | string | undefined {
  try {
    const observation = candidate.observe()
    return observation && (observationProblem(observation) ?? observation)
  } catch (error) {
    return messageOf(error)
  }
}

/**
 * The observation of a named item. Its partition is the choice of the user, where undefined leaves it out; otherwise
 * the first valid date in the name; otherwise the day of its last change, in the zone of the trigger.
 */
export function observationOf(item: {
  readonly name: string
  readonly identity: string
  readonly changedAt: Instant
  readonly timezone: string
  readonly choose: (() => unknown) | undefined
  readonly payload: Json
}): Observation | undefined {
  const { name, identity, changedAt, timezone, choose, payload } = item
  const partition =
    choose === undefined
      ? (dateInText(name) ?? partitionOf('day', changedAt, timezone))
      : chosenPartition(choose)
  return partition === undefined ? undefined : { key: observationKey(identity), partition, payload }
}

function chosenPartition(choose: () => unknown): string | undefined {
  let chosen: unknown
  try {
    chosen = choose()
  } catch (error) {
    throw new Error(`its partition function threw: ${messageOf(error)}`, { cause: error })
  }
  if (typeof chosen === 'string') return chosen
  if (chosen === undefined || chosen === null) return undefined
  throw new TypeError(`its partition function returned ${shown(chosen)}, not a text`)
}

/** The identity, or a prefix and a digest if that is too long. */
function observationKey(identity: string): string {
  if (identity.length * 3 <= maxKeyBytes || Buffer.byteLength(identity) <= maxKeyBytes) return identity
  const digest = createHash('sha256').update(identity).digest('base64url')
  return `${boundText(identity, maxKeyBytes - digest.length - 1)}#${digest}`
}

/** The result of a poll of a sweeping sensor. */
export function sweepResult(outcome: {
  readonly sweep: Sweep
  readonly isEnded: boolean
  readonly found: readonly Observation[]
  readonly problem: string | undefined
}): PollResult<SweepState> {
  const { sweep, isEnded, found, problem } = outcome
  const state = isEnded ? sweep.ended() : sweep.paused()
  const reason = isEnded ? `nothing new: ${sweep.summary}` : `in progress: ${sweep.summary}`
  return pageResult({ found, state, hasMore: !isEnded, problem, reason })
}

/** The initial state of a sweeping sensor; its first poll adds the settings. */
export function initSweeps(): InitResult<SweepState> {
  return { kind: 'ok', state: firstSweepState('') }
}

/** The state if it belongs to these settings, otherwise a new one: another bucket or glob starts from the beginning. */
export function stateFor(settings: readonly unknown[], state: SweepState): SweepState {
  const digest = createHash('sha256').update(JSON.stringify(settings)).digest('base64url')
  const source = digest.slice(0, 12)
  return state.source === source ? state : firstSweepState(source)
}
