import { useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Trigger } from '../../../../src/client/operations.js'
import { marks } from '../../design/families.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useNow } from '../../data/now.js'
import { ownZone, useZoneChoice } from '../../data/zone.js'
import { StateMark } from '../../parts/mark.js'
import { useWhy } from '../../parts/why/why-address.js'
import { zoneOf } from '../../parts/why/schedule-line.js'
import { markWords } from '../../words/common.js'
import { words } from '../../words/ledger.js'
import { dayOf, markOf, newestDates, reasons, yearsOf, type Day } from './days.js'
import styles from './page.module.css'

/** Triggers by dates: whether all that was due ran, and if not, why. A date belongs to the zone in which times are shown. */
export function HeatMap({ triggers, days }: { triggers: readonly Trigger[]; days: number }): ReactNode {
  const [choice] = useZoneChoice()
  const nowMs = useNow()
  const axisZone = choice === 'utc' ? 'UTC' : ownZone
  const dates = newestDates(days, nowMs, axisZone)
  const zoneFor = (trigger: Trigger): string =>
    choice === 'trigger' ? (zoneOf(trigger) ?? ownZone) : axisZone
  const known = useDays(triggers, zoneFor, yearsOf(dates))
  return (
    <div className={styles['scroll']}>
      <table className={styles['heat']}>
        <caption className="visually-hidden">{words.heat}</caption>
        <thead>
          <tr>
            <th scope="col">{words.trigger}</th>
            {dates.map((date, index) => (
              <th key={date} scope="col" data-weekend={isWeekend(date)}>
                <span className="visually-hidden">{date}</span>
                <span aria-hidden="true">{dateHead(date, index)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {triggers.map((trigger) => (
            <tr key={trigger.name}>
              <th scope="row">
                <Link
                  href={`/triggers/${encodeURIComponent(trigger.name)}`}
                  className={styles['name']}
                  title={trigger.name}
                >
                  {trigger.name}
                </Link>
              </th>
              {dates.map((date, index) => (
                <Cell
                  key={date}
                  trigger={trigger.name}
                  date={date}
                  day={known.get(trigger.name)?.get(date)}
                  until={known.get(trigger.name)?.get(dates[index + 1] ?? '')?.fromAt}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function useDays(
  triggers: readonly Trigger[],
  zoneFor: (trigger: Trigger) => string,
  years: readonly number[],
): ReadonlyMap<string, ReadonlyMap<string, Day>> {
  const wanted = triggers.flatMap((trigger) =>
    years.map((year) => ({ name: trigger.name, zone: zoneFor(trigger), year })),
  )
  const answers = useQueries({
    queries: wanted.map(({ name, zone, year }) => ({
      queryKey: ['year', name, zone, year],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api('GET /ui/trigger/{name}/year', { path: { name }, query: { year, zone }, signal }),
      meta: { topics: ['ledger', 'holds'] as const },
    })),
  })
  const known = new Map<string, Map<string, Day>>()
  for (const [index, { data }] of answers.entries()) {
    const name = wanted[index]?.name
    if (data === undefined || name === undefined) continue
    const days = known.get(name) ?? new Map<string, Day>()
    for (const day of data.days) days.set(day.date, dayOf(day))
    known.set(name, days)
  }
  return known
}

function Cell({
  trigger,
  date,
  day,
  until,
}: {
  trigger: string
  date: string
  day: Day | undefined
  /** When the next date begins. */
  until: string | undefined
}): ReactNode {
  const [, ask] = useWhy()
  if (day === undefined) return <td />
  const mark = markOf(day)
  const text = cellText(day)
  return (
    <td>
      <button
        type="button"
        className={styles['cell']}
        data-family={mark === undefined ? 'none' : marks[mark].family}
        title={words.cell.label(trigger, date, text)}
        aria-label={words.cell.label(trigger, date, text)}
        onClick={() => ask({ trigger, from: day.fromAt, until: lastInstant(day.fromAt, until) })}
      >
        {mark === undefined || mark === 'done' ? null : <StateMark mark={mark} label={false} size={10} />}
      </button>
    </td>
  )
}

/** The last millisecond of a date: the next one belongs to the next date. */
function lastInstant(fromAt: string, until: string | undefined): string {
  const end = until === undefined ? Date.parse(fromAt) + 86_400_000 : Date.parse(until)
  return new Date(end - 1).toISOString()
}

function cellText(day: Day): string {
  const { runs, failed, ranges } = day
  const parts = [
    ...(runs === 0 ? [] : [words.cell.ran(formatCount(runs))]),
    ...(failed === 0 ? [] : [words.cell.failed(formatCount(failed))]),
    ...reasons
      .filter((reason) => (ranges[reason] ?? 0) > 0)
      .map((reason) => words.cell.ranges(formatCount(ranges[reason] ?? 0), markWords[reason])),
  ]
  return parts.length === 0 ? words.cell.nothing : parts.join(', ')
}

function dateHead(date: string, index: number): string {
  const day = Number(date.slice(8))
  if (day !== 1 && index !== 0) return String(day)
  return new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    Date.parse(date),
  )
}

function isWeekend(date: string): boolean {
  return [0, 6].includes(new Date(`${date}T12:00:00Z`).getUTCDay())
}
