import type { Overview, TallyRow } from '../../overview.js'
import { stateName } from '../rows/states.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

/** How many lanes one step reads, and how many runs of each: other work continues in between. */
const lanesPerLook = 4
const runsPerLook = 500

// Both rely on: runs_trigger; the first on nothing else.
const LOOK_END = `select due_at from rota.runs where trigger = $1 and due_at >= $2 and due_at < $3
  order by due_at limit 1 offset ${runsPerLook - 1}`

const TALLY = `select due_at - (due_at - $2::int8) % $4::int8 as bucket_at, state, count(*) as runs from rota.runs
  where trigger = $1 and due_at >= $5 and due_at < $3 group by bucket_at, state order by bucket_at, state`

type TallyRequest = Parameters<Overview['tally']>[0]

/** What is left to read: each lane, from a due instant on. */
export type LanesLeft = readonly (readonly [trigger: string, fromAt: number])[]

/** Counts a bounded number of runs of some lanes; returns what is left. */
export function* tallyPart(
  session: Session,
  request: TallyRequest,
  given: { readonly left: LanesLeft | undefined; readonly rows: TallyRows },
): Verb<LanesLeft | undefined> {
  const left = given.left ?? request.triggers.map((trigger) => [trigger, request.fromAt] as const)
  const some = left.slice(0, lanesPerLook)
  const rest = yield* session.sql.together(
    ...some.map((lane) => tallyLane(session, request, lane, given.rows)),
  )
  const next = [...rest.flat(), ...left.slice(lanesPerLook)]
  return next.length === 0 ? undefined : next
}

function* tallyLane(
  session: Session,
  { fromAt, untilAt, bucketMs }: TallyRequest,
  [trigger, at]: LanesLeft[number],
  rows: TallyRows,
): Verb<LanesLeft> {
  type Row = { bucket_at: number; state: number; runs: number }
  const end = yield* session.sql.value<number>(LOOK_END, trigger, at, untilAt)
  // Runs that are due at the same instant are counted together, however many there are.
  const until = end === undefined ? untilAt : end + 1
  const found = yield* session.sql.all<Row>(TALLY, trigger, fromAt, until, bucketMs, at)
  for (const { bucket_at: bucketAt, state, runs } of found) {
    rows.add({ trigger, bucketAt, state: stateName(state), runs })
  }
  return end === undefined ? [] : [[trigger, until]]
}

/** Adds up the counts, lane by lane. */
export class TallyRows {
  readonly #lanes: ReadonlyMap<string, Map<string, TallyRow>>

  constructor({ triggers }: TallyRequest) {
    this.#lanes = new Map(triggers.map((trigger) => [trigger, new Map()]))
  }

  /** Users see three states of a row as one, and a bucket may come in several parts. */
  add(row: TallyRow): void {
    const lane = this.#lanes.get(row.trigger)
    const key = `${row.bucketAt} ${row.state}`
    lane?.set(key, { ...row, runs: row.runs + (lane.get(key)?.runs ?? 0) })
  }

  rows(): TallyRow[] {
    return [...this.#lanes.values()].flatMap((lane) => [...lane.values()])
  }
}
