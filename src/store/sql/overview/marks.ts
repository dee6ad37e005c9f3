import type { Overview, RunMark } from '../../overview.js'
import { orUndefined } from '../rows/run-rows.js'
import { stateName } from '../rows/states.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { nextTurn } from '../../../time/turn.js'

const MARK = 'id, trigger, state, due_at, started_at, finished_at'

// Both rely on: runs_trigger.
const RECENT = `select ${MARK} from rota.runs where trigger = $1 order by due_at desc, id desc limit $2`

const IN_WINDOW = `select ${MARK} from rota.runs where trigger = $1 and due_at >= $2 and due_at <= $3
  order by due_at, id limit $4`

interface MarkRow {
  readonly id: string
  readonly trigger: string
  readonly state: number
  readonly due_at: number
  readonly started_at: number | null
  readonly finished_at: number | null
}

/** How many triggers one step reads: other work continues in between. */
const lanesPerLook = 10

/** Reads the marks of a few triggers at a time. */
export async function laneByLane(
  triggers: readonly string[],
  ask: (some: readonly string[]) => Promise<RunMark[]>,
): Promise<RunMark[]> {
  const found: RunMark[] = []
  for (let i = 0; i < triggers.length; i += lanesPerLook) {
    if (i > 0) await nextTurn()
    for (const mark of await ask(triggers.slice(i, i + lanesPerLook))) found.push(mark)
  }
  return found
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

/** The runs of triggers in a range of time. */
export function* lanes(session: Session, request: Parameters<Overview['lanes']>[0]): Verb<RunMark[]> {
  const { triggers, fromAt, untilAt, limit } = request
  const found = yield* session.sql.together(
    ...triggers.map((trigger) => session.sql.all<MarkRow>(IN_WINDOW, trigger, fromAt, untilAt, limit)),
  )
  return found.flat().map(markOf)
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
