/** The rows of the chart: one for each trigger, or one for each job with what all its triggers have. */
import { useMemo, useRef } from 'react'
import type { Trigger } from '../../../../../src/client/operations.js'
import type { Mark } from '../../../design/marks.js'
import { triggerHref } from '../../../data/triggers.js'
import type { View } from '../axis/view.js'
import type { LaneData } from './lane-data.js'

/** The name of a lane, and where it leads. */
export interface LaneRow {
  readonly name: string
  readonly title: string
  readonly href: string
  readonly mark: Mark | undefined
}

/** The rows, their lanes, and the triggers behind each row. */
export interface LaneRows {
  readonly rows: readonly LaneRow[]
  readonly lanes: ReadonlyMap<string, LaneData>
  readonly triggersOf: (row: string) => readonly string[]
  /** The trigger of a row that has something in a stretch. */
  readonly triggerAt: (row: string, stretch: View) => string
}

/** Makes the rows of triggers whose lanes were read. */
export function useLaneRows(
  triggers: readonly Trigger[],
  lanes: ReadonlyMap<string, LaneData>,
  isByJob: boolean,
): LaneRows {
  const before = useRef<ReadonlyMap<string, JobLane>>(new Map())
  const byTrigger = useMemo(() => triggers.map(rowOf), [triggers])
  const jobs = useMemo(() => (isByJob ? jobsOf(triggers) : new Map<string, string[]>()), [triggers, isByJob])
  return useMemo(() => {
    if (!isByJob) {
      return { rows: byTrigger, lanes, triggersOf: (row) => [row], triggerAt: (row) => row }
    }
    const merged = new Map([...jobs].map(([job, names]) => [job, jobLane(job, names, lanes, before.current)]))
    before.current = merged
    const triggersOf = (row: string): readonly string[] => jobs.get(row) ?? []
    return {
      rows: [...jobs].map(([job, names]) => jobRow(job, names)),
      lanes: new Map([...merged].map(([job, { lane }]) => [job, lane])),
      triggersOf,
      triggerAt: (row, stretch) => {
        const names = triggersOf(row)
        const found = names.find((name) => isIn(lanes.get(name), stretch))
        return found ?? names[0] ?? row
      },
    }
  }, [byTrigger, lanes, isByJob, jobs])
}

function rowOf({ name, job, state }: Trigger): LaneRow {
  const title = name === job ? name : `${name} · ${job}`
  return { name, title, href: triggerHref(name), mark: markOf[state] }
}

function jobRow(job: string, names: readonly string[]): LaneRow {
  const q = new URLSearchParams({ q: `job:${job}` })
  return { name: job, title: `${job} · ${names.join(', ')}`, href: `/runs?${q.toString()}`, mark: undefined }
}

function jobsOf(triggers: readonly Trigger[]): Map<string, string[]> {
  const jobs = new Map<string, string[]>()
  for (const { name, job } of triggers.toSorted((one, other) => (one.job < other.job ? -1 : 1))) {
    const names = jobs.get(job)
    if (names === undefined) jobs.set(job, [name])
    else names.push(name)
  }
  return jobs
}

interface JobLane {
  readonly members: readonly LaneData[]
  readonly lane: LaneData
}

/** The lane of a job; the same object as before while those of its triggers are the same. */
function jobLane(
  job: string,
  names: readonly string[],
  lanes: ReadonlyMap<string, LaneData>,
  before: ReadonlyMap<string, JobLane>,
): JobLane {
  const members = names.flatMap((name) => lanes.get(name) ?? [])
  const known = before.get(job)
  if (known?.members.length === members.length && members.every((one, index) => one === known.members[index]))
    return known
  const [first] = members
  const shared = first?.shared ?? []
  const points = members.flatMap((one) => one.points).toSorted((one, other) => one.fromMs - other.fromMs)
  const lane: LaneData = {
    name: job,
    job,
    state: 'on',
    zone: first?.zone,
    points,
    bars: members.flatMap((one) => one.bars),
    bands: shared,
    shared,
    answers: members.flatMap((one) => one.answers),
  }
  return { members, lane }
}

function isIn(lane: LaneData | undefined, { fromMs, untilMs }: View): boolean {
  if (lane === undefined) return false
  return [...lane.points, ...lane.bars].some((one) => one.fromMs <= untilMs && one.untilMs >= fromMs)
}

/** A trigger that is on needs no mark. */
const markOf: Readonly<Partial<Record<Trigger['state'], Mark>>> = {
  paused: 'paused',
  frozen: 'frozen',
  'switched off': 'switch',
  disabled: 'switch',
  over: 'pruned',
  ended: 'pruned',
}
