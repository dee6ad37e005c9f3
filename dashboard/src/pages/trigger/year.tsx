import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { Trigger } from '../../../../src/client/operations.js'
import type { Year as YearAnswer } from '../../../../src/client/ui-operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { Button } from '../../parts/button.js'
import { Panel } from '../../parts/panel.js'
import { StateMark } from '../../parts/state-mark.js'
import { ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { askWhy } from '../../parts/why/why-address.js'
import { words } from '../../words/trigger.js'
import { dayMark, daysBefore, dayText } from './year-cells.js'
import styles from './year.module.css'

/** A year of a trigger, a mark for each day: what ran, what did not and why, and what is to come. */
export function Year({ trigger }: { trigger: Trigger }): ReactNode {
  const { name } = trigger
  const [year, setYear] = useState<number>()
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['trigger', name, 'year', year],
    queryFn: ({ signal }) =>
      api('GET /ui/trigger/{name}/year', {
        path: { name },
        query: year === undefined ? {} : { year },
        signal,
      }),
    meta: { topics: ['runs', 'ledger'] },
    placeholderData: (before) => before,
  })
  const shown = Number(data?.days[0]?.date.slice(0, 4) ?? new Date().getFullYear())
  return (
    <Panel
      title={words.year.title(shown)}
      aside={
        <>
          <Coverage name={name} />
          <span className={styles['turn']}>
            <Button tone="quiet" aria-label={words.year.before} onClick={() => setYear(shown - 1)}>
              ‹
            </Button>
            <Button tone="quiet" aria-label={words.year.after} onClick={() => setYear(shown + 1)}>
              ›
            </Button>
          </span>
        </>
      }
    >
      <LoadingBar isLoading={isFetching && data !== undefined} />
      {data === undefined ? (
        error === null ? (
          <Skeleton rows={4} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <YearGrid data={data} />
      )}
    </Panel>
  )
}

/** The numbers that must add up: every due time ran or has a reason. */
function Coverage({ name }: { name: string }): ReactNode {
  const { data } = useQuery({
    queryKey: ['coverage', name],
    queryFn: ({ signal }) => api('GET /coverage', { query: { trigger: name }, signal }),
    meta: { topics: ['ledger'] },
  })
  const one = data?.items[0]
  if (one === undefined) return null
  const explained = Object.values(one.explained).reduce((sum, count) => sum + count, 0)
  const { due, run, unexplainedCount, unexplained, fromAt, untilAt } = one
  const [first] = unexplained
  return (
    <button
      type="button"
      className={styles['coverage']}
      data-bad={unexplainedCount > 0}
      onClick={() => askWhy({ trigger: name, from: first ?? fromAt, until: first ?? untilAt })}
    >
      {words.year.coverage([due, run, explained, unexplainedCount].map(formatCount))}
    </button>
  )
}

function YearGrid({ data }: { data: YearAnswer }): ReactNode {
  const { days, trigger } = data
  const today = days.findLastIndex(({ fromAt }) => Date.parse(fromAt) <= Date.now())
  const [at, setAt] = useState(Math.max(0, today))
  const grid = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const box = grid.current?.parentElement
    const cell = grid.current?.querySelector<HTMLElement>('[data-today="true"]')
    // Only the box scrolls: the page must not move.
    if (box != null && cell != null) box.scrollLeft = cell.offsetLeft - box.clientWidth / 2
  }, [days.length])
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 7, ArrowLeft: -7 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(days.length - 1, at + by))
    setAt(next)
    grid.current?.querySelectorAll('button')[next]?.focus()
  }
  const before = daysBefore(days[0]?.date ?? '2026-01-01')
  return (
    <div className={styles['scroll']}>
      <div className={styles['months']} aria-hidden="true">
        {days.map(({ date }, index) =>
          date.endsWith('-01') ? (
            <span key={date} style={{ gridColumn: Math.floor((index + before) / 7) + 1 }}>
              {words.year.month(date)}
            </span>
          ) : null,
        )}
      </div>
      {/* The days take the focus. */}
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus */}
      <div
        ref={grid}
        className={styles['grid']}
        role="group"
        aria-label={words.year.label}
        onKeyDown={onKeyDown}
      >
        {days.map((day, index) => {
          const mark = dayMark(day)
          const text = dayText(day)
          return (
            <button
              key={day.date}
              type="button"
              className={styles['day']}
              style={index === 0 ? { gridRow: before + 1 } : undefined}
              tabIndex={index === at ? 0 : -1}
              data-today={index === today}
              title={text}
              aria-label={text}
              onClick={() => {
                setAt(index)
                const until = days[index + 1]?.fromAt ?? data.untilAt
                const last = new Date(Date.parse(until) - 1000).toISOString()
                askWhy({ trigger, from: day.fromAt, until: last })
              }}
            >
              {mark === undefined ? (
                <span className={styles['nothing']} />
              ) : (
                <StateMark mark={mark} label={false} size={11} />
              )}
            </button>
          )
        })}
      </div>
    </div>
  )
}
