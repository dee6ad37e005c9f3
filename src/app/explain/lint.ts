import type { Trigger } from '../../kernel/trigger/trigger.js'
import { nextLook, scheduleOf, type CronSpec } from '../../kernel/trigger/schedule.js'
import { exclusionAt, YEAR_MS } from '../../kernel/calendar/calendar.js'
import type { Store } from '../../store/port.js'
import { clockChangeNotes } from '../../time/cron/explain.js'
import { parseCron } from '../../time/cron/parse.js'
import { cronSchedule } from '../../time/cron/schedule.js'
import { formatDuration } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import { zoneOf } from '../../time/zone.js'

/** A setting that is allowed but may surprise. */
export interface Surprise {
  readonly rule:
    | 'either-day'
    | 'clock-change'
    | 'every-second'
    | 'longer-than-interval'
    | 'midnight'
    | 'never'
  readonly triggers: readonly string[]
  /** Where the first of them was written. */
  readonly where: string
  /** What happens. */
  readonly message: string
  /** What to do if it is not intended. */
  readonly todo: string
}

/** The definitions to check, and the history of their runs. */
export interface Linted {
  readonly triggers: readonly Trigger[]
  readonly whereOf: (trigger: string, option: string) => string
  readonly store: Store
  readonly now: Instant
}

/** Finds settings of schedules that may surprise. */
export async function lint(given: Linted): Promise<readonly Surprise[]> {
  const found: Surprise[] = []
  for (const trigger of given.triggers.filter(({ enabled }) => enabled)) {
    const { schedule } = trigger
    if (schedule.kind === 'cron') found.push(...ofExpression(given, trigger, schedule))
    found.push(...ofCalendar(given, trigger), ...(await ofHistory(given, trigger)))
  }
  return [...found, ...ofMidnight(given)]
}

function ofExpression(given: Linted, { name }: Trigger, spec: CronSpec): Surprise[] {
  const { expression, timezone, dst } = spec
  const at = { triggers: [name], where: given.whereOf(name, 'cron') }
  const parsed = parseCron(expression)
  const found: Surprise[] = []
  if (parsed.isEitherDay)
    found.push({
      ...at,
      rule: 'either-day',
      message: `${expression}: both the day of the month and the day of the week are set, and a day that matches either one counts`,
      todo: 'leave one of them as *; for "the first Monday" write 1#1 as the day of the week',
    })
  const fields = expression.trim().split(/\s+/)
  if (fields.length === 6 && fields[0]?.startsWith('*') === true)
    found.push({
      ...at,
      rule: 'every-second',
      message: `${expression}: with six fields the first one is the second, so it is due many times a minute`,
      todo: 'leave out the first field, or write 0 there',
    })
  const schedule = cronSchedule(expression, { timezone, dst })
  const window = { after: given.now, until: given.now + YEAR_MS }
  const notes = parsed.hasFixedTimes ? clockChangeNotes(schedule, window) : []
  const [first] = notes
  if (first !== undefined) {
    const clocks =
      first.cause === 'gap' ? `clocks skip ${first.firstLocal}` : `clocks show ${first.firstLocal} twice`
    const effect =
      first.kind === 'moved'
        ? 'it runs right after'
        : first.kind === 'added'
          ? 'it runs twice'
          : first.cause === 'gap'
            ? 'it does not run'
            : 'it runs the first time only'
    found.push({
      ...at,
      rule: 'clock-change',
      message: `${expression} in ${timezone}: ${clocks}, and ${effect} (dst ${schedule.dst})`,
      todo: 'choose a time that no clock change affects, another dst, or UTC',
    })
  }
  return found
}

/** Due times that no calendar ever allows. */
function ofCalendar(given: Linted, { name, schedule }: Trigger): Surprise[] {
  const { calendar } = schedule
  if (calendar === undefined || schedule.kind === 'sensor') return []
  const instants = scheduleOf(schedule)
  if (instants.next(given.now) === undefined) return []
  const at = nextLook(schedule, instants, given.now)
  if (at !== undefined && exclusionAt(calendar, at).by === undefined) return []
  return [
    {
      rule: 'never',
      triggers: [name],
      where: given.whereOf(
        name,
        calendar.include === undefined && calendar.exclude === undefined ? 'blackouts' : 'calendar',
      ),
      message: 'its calendars and blackouts exclude every due time of the next year',
      todo: 'check the calendars with `rota calendar show`',
    },
  ]
}

const fewestRuns = 3

/** Runs that usually take longer than the time to the next one. */
async function ofHistory(given: Linted, { name, schedule }: Trigger): Promise<Surprise[]> {
  const instants = scheduleOf(schedule)
  const first = instants.next(given.now)
  const second = first === undefined ? undefined : instants.next(first)
  if (first === undefined || second === undefined) return []
  const runs = await given.store.runs({ trigger: name, state: 'done', limit: 20 })
  const tookMs = runs
    .flatMap(({ startedAt, finishedAt }) =>
      startedAt === undefined || finishedAt === undefined ? [] : [finishedAt - startedAt],
    )
    .toSorted((a, b) => a - b)
  const usualMs = tookMs[Math.floor(tookMs.length / 2)] ?? 0
  const gapMs = second - first
  if (tookMs.length < fewestRuns || usualMs <= gapMs) return []
  return [
    {
      rule: 'longer-than-interval',
      triggers: [name],
      where: given.whereOf(name, schedule.kind === 'cron' ? 'cron' : 'every'),
      message: `half of its last ${tookMs.length} runs took ${formatDuration(usualMs)} or longer, and it is due every ${formatDuration(gapMs)}`,
      todo: 'use a longer interval, make the runs faster, or choose `overlap`; `after: finish` measures from the end of a run',
    },
  ]
}

const manyAtMidnight = 5

/** Many triggers at the same midnight without jitter or spread. */
function ofMidnight({ triggers, whereOf, now }: Linted): Surprise[] {
  const atMidnight = triggers.filter((trigger) => {
    const { schedule, enabled, jitterMs, spreadMs } = trigger
    if (!enabled || schedule.kind !== 'cron' || jitterMs + spreadMs > 0) return false
    const next = scheduleOf(schedule).next(now)
    return next !== undefined && zoneOf(schedule.timezone).toLocal(next) % 86_400_000 === 0
  })
  const names = atMidnight.map(({ name }) => name)
  const [first] = names
  if (names.length < manyAtMidnight || first === undefined) return []
  return [
    {
      rule: 'midnight',
      triggers: names,
      where: whereOf(first, 'cron'),
      message: `${names.length} triggers are due at midnight: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ' …' : ''}`,
      todo: 'give them other times, or `spread: 30m`, so that they do not all start together',
    },
  ]
}
