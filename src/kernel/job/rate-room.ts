import type { Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'
import type { StateKey } from '../state/state-entry.js'
import {
  afterStarts,
  nextStartAt,
  possibleState,
  rateStateOf,
  startsAt,
  type JobRates,
  type RateLimit,
  type RateState,
} from './rate-limit.js'
import { afterTurns, turnOf } from './rate-turns.js'

/** One limit during a claim. */
export interface RateRoom {
  readonly entry: StateKey
  readonly limit: RateLimit
  readonly state: RateState
  /** Whether the stored state was corrected. */
  readonly isCorrected: boolean
  /** How many more may start. */
  left: number
  /** The turns of the runs that were started. */
  readonly started: string[]
}

/** The limits of a job during a claim. */
export interface JobRooms {
  readonly job: string
  readonly limits: JobRates
  readonly queue: RateRoom | undefined
  readonly own: RateRoom | undefined
  /** The limits of its keys that were read so far. */
  readonly keys: Map<string, RateRoom>
}

/** The fields of a run that a limit needs. */
export interface RatedRun {
  readonly job: string
  /** Its concurrency key. */
  readonly key: string | undefined
}

/** A limit with its stored state. */
export function openRoom(given: {
  readonly entry: StateKey
  readonly limit: RateLimit
  readonly value: Json | undefined
  readonly now: Instant
}): RateRoom {
  const { entry, limit, value, now } = given
  const stored = rateStateOf(value)
  const state = possibleState(limit, stored, now)
  return {
    entry,
    limit,
    state,
    isCorrected: state !== stored,
    left: startsAt(limit, state, now),
    started: [],
  }
}

/** Whether all limits of a run let it start. */
export function mayStart(rooms: ReadonlyMap<string, JobRooms>, run: RatedRun): boolean {
  return roomsOf(rooms, run).every(({ left }) => left > 0)
}

/** Counts a start of a run. */
export function spend(rooms: ReadonlyMap<string, JobRooms>, run: RatedRun): void {
  for (const room of roomsOf(rooms, run)) {
    room.left--
    room.started.push(turnOf(run.job, run.key))
  }
}

/** Whether the state of a limit has to be written. */
export function isChanged({ isCorrected, started }: RateRoom): boolean {
  return isCorrected || started.length > 0
}

/** The state of a limit after the counted starts. */
export function settledState({ entry, limit, state, started }: RateRoom, now: Instant): RateState {
  if (started.length === 0) return state
  return {
    freeAt: afterStarts(limit, state, { now, count: started.length }),
    at: Math.max(state.at ?? now, now),
    // Runs with the same key do not take turns.
    turns: entry.item === '' ? afterTurns(state.turns, started) : [],
  }
}

/** Every limit once. */
export function allRooms(rooms: Iterable<JobRooms>): Set<RateRoom> {
  const found = new Set<RateRoom>()
  for (const { queue, own, keys } of rooms)
    for (const room of [queue, own, ...keys.values()]) if (room !== undefined) found.add(room)
  return found
}

/** Until when the shared limits of a job's runs let no run start; undefined if one may start now. */
export function waitUntil({ queue, own }: JobRooms, now: Instant): Instant | undefined {
  const full = [queue, own].filter((room) => room?.left === 0) as RateRoom[]
  if (full.length === 0) return undefined
  return Math.max(...full.map((room) => nextStartAt(room.limit, settledState(room, now))))
}

/** Jobs that take turns: those of one limited queue together, each other job separately. */
export function turnGroups<Rooms extends JobRooms>(rooms: Iterable<Rooms>): Rooms[][] {
  const groups = new Map<RateRoom | string, Rooms[]>()
  for (const each of rooms) {
    const group = groups.get(each.queue ?? each.job)
    if (group === undefined) groups.set(each.queue ?? each.job, [each])
    else group.push(each)
  }
  return [...groups.values()]
}

function roomsOf(rooms: ReadonlyMap<string, JobRooms>, { job, key }: RatedRun): RateRoom[] {
  const found = rooms.get(job)
  const ofKey = key === undefined ? undefined : found?.keys.get(key)
  return [found?.queue, found?.own, ofKey].filter((room) => room !== undefined)
}
