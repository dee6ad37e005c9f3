import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { CoveredDay } from '../../../../src/client/operations.js'
import { marks } from '../../design/marks.js'
import { formatCount } from '../../data/format.js'
import { LongName } from '../../parts/text/long-name.js'
import { StateMark } from '../../parts/state-mark.js'
import { askWhy } from '../../parts/why/why-address.js'
import { markWords } from '../../words/common.js'
import { words } from '../../words/ledger.js'
import { markOf, reasons, type DayCoverage } from './days.js'
import styles from './page.module.css'

/** A trigger and its days. */
interface HeatRow {
  readonly trigger: string
  readonly days: readonly CoveredDay[]
}

/** Triggers by days of UTC: whether all that was due ran, and if not, why. */
export function HeatMap({ rows }: { rows: readonly HeatRow[] }): ReactNode {
  const dates = rows[0]?.days.map(({ date }) => date) ?? []
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
          {rows.map(({ trigger, days }) => (
            <tr key={trigger}>
              <th scope="row">
                <Link
                  href={`/triggers/${encodeURIComponent(trigger)}`}
                  className={styles['name']}
                  title={trigger}
                  aria-label={trigger}
                >
                  <LongName>{trigger}</LongName>
                </Link>
              </th>
              {days.map(({ date, coverage }) => (
                <Cell key={date} trigger={trigger} date={date} coverage={coverage} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell({
  trigger,
  date,
  coverage,
}: {
  trigger: string
  date: string
  coverage: DayCoverage | null
}): ReactNode {
  const mark = coverage === null ? undefined : markOf(coverage)
  const label = words.cell.label(trigger, date, coverage === null ? words.cell.uncounted : cellText(coverage))
  return (
    <td>
      <button
        type="button"
        className={styles['cell']}
        data-family={mark === undefined ? 'none' : marks[mark].family}
        title={label}
        aria-label={label}
        onClick={() => askWhy({ trigger, from: `${date}T00:00:00.000Z`, until: `${date}T23:59:59.999Z` })}
      >
        {mark === undefined || mark === 'done' ? null : <StateMark mark={mark} label={false} size={10} />}
      </button>
    </td>
  )
}

function cellText({ run, unexplained, explained }: DayCoverage): string {
  const parts = [
    ...(unexplained === 0 ? [] : [`${formatCount(unexplained)} ${words.unexplained}`]),
    ...(run === 0 ? [] : [words.cell.ran(formatCount(run))]),
    ...reasons
      .filter((reason) => (explained[reason] ?? 0) > 0)
      .map((reason) => words.cell.explained(formatCount(explained[reason] ?? 0), markWords[reason])),
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
