import type { Overview, RunMark, TallyRow } from '../../overview.js'
import { orUndefined } from '../rows/run-rows.js'
import { stateName } from '../rows/states.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

const MARK = 'id, trigger, state, due_at, started_at, finished_at'

// Both rely on: runs_trigger.
const RECENT = `select ${MARK} from rota.runs where trigger = $1 order by due_at desc, id desc limit $2`

const IN_WINDOW = `select ${MARK} from rota.runs where trigger = $1 and due_at >= $2 and due_at <= $3
  order by due_at, id limit $4`

// Relies on: runs_trigger for the window; the state is in the row.
const TALLY = `select due_at - (due_at - $2::int8) % $4::int8 as bucket_at, state, count(*) as runs from rota.runs
  where trigger = $1 and due_at >= $2 and due_at < $3 group by bucket_at, state order by bucket_at, state`

interface MarkRow {
  readonly id: string
  readonly trigger: string
  readonly state: number
  readonly due_at: number
  readonly started_at: number | null
  readonly finished_at: number | null
}

/** The newest runs of each trigger. */
export function* recentRuns(
  session: Session,
  { triggers, each }: Parameters<Overview['recentRuns']>[0],
): Verb<RunMark[]> {
  const found = yield* session.sql.together(
    ...triggers.map((trigger) => session.sql.all<MarkRow>(RECENT, trigger, each)),
  )
  return found.flat().map(markOf)
}

/** The runs of triggers in a stretch of time. */
export function* lanes(session: Session, request: Parameters<Overview['lanes']>[0]): Verb<RunMark[]> {
  const { triggers, fromAt, untilAt, limit } = request
  const found = yield* session.sql.together(
    ...triggers.map((trigger) => session.sql.all<MarkRow>(IN_WINDOW, trigger, fromAt, untilAt, limit)),
  )
  return found.flat().map(markOf)
}

/** How many runs are due in each bucket. */
export function* tally(session: Session, request: Parameters<Overview['tally']>[0]): Verb<TallyRow[]> {
  const { triggers, fromAt, untilAt, bucketMs } = request
  const found = yield* session.sql.together(
    ...triggers.map((trigger) => tallyOf(session, trigger, { fromAt, untilAt, bucketMs })),
  )
  return found.flat()
}

function* tallyOf(
  session: Session,
  trigger: string,
  { fromAt, untilAt, bucketMs }: { fromAt: number; untilAt: number; bucketMs: number },
): Verb<TallyRow[]> {
  type Row = { bucket_at: number; state: number; runs: number }
  const rows = yield* session.sql.all<Row>(TALLY, trigger, fromAt, untilAt, bucketMs)
  // Three states of a row are one to the world.
  const byState = new Map<string, TallyRow>()
  for (const { bucket_at: bucketAt, state, runs } of rows) {
    const row = { trigger, bucketAt, state: stateName(state), runs }
    const key = `${bucketAt} ${row.state}`
    byState.set(key, { ...row, runs: runs + (byState.get(key)?.runs ?? 0) })
  }
  return [...byState.values()]
}

function markOf(row: MarkRow): RunMark {
  return {
    id: row.id,
    trigger: row.trigger,
    state: stateName(row.state),
    dueAt: row.due_at,
    startedAt: orUndefined(row.started_at),
    finishedAt: orUndefined(row.finished_at),
  }
}
