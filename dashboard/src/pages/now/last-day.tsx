import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Series, Times } from '../../../../src/client/ui-operations.js'
import { exactTime, formatCount, formatDuration } from '../../data/format.js'
import { useZone } from '../../data/zone.js'
import { Bars, type Bar } from '../../parts/bars.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState } from '../../parts/states.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/now.js'
import styles from './page.module.css'

/** What ended in the last 24 hours: how much, how late, how slow. */
export function LastDay({ day }: { day: Series }): ReactNode {
  const zone = useZone()
  const { total, fromAt } = day
  const { done, failed, cancelled } = total
  const clock = (ms: number): string => exactTime(ms, zone, { now: ms }).clock.slice(0, 5)
  return (
    <Panel title={words.day.title} aside={<Link href="/runs">{words.day.all}</Link>}>
      {done + failed + cancelled === 0 ? (
        <EmptyState title={words.day.nothing} />
      ) : (
        <>
          <div className={styles['chart']}>
            <Bars label={words.day.bars(formatCount(done), formatCount(failed))} bars={barsOf(day, clock)} />
          </div>
          <div className={styles['scale']} aria-hidden="true">
            <span>
              {words.day.yesterday} <span className="mono">{clock(Date.parse(fromAt))}</span>
            </span>
            <span>{common.now}</span>
          </div>
          <dl className={styles['numbers']}>
            <Number name={words.day.done}>
              <Link href="/runs?q=state:done+since:24h" className={styles['number']}>
                {formatCount(done)}
              </Link>
            </Number>
            <Number name={words.day.failed}>
              {failed === 0 ? (
                '0'
              ) : (
                <Link href="/runs?q=state:failed+since:24h" className={styles['bad']}>
                  {formatCount(failed)}
                </Link>
              )}
            </Number>
            <TimesNumber name={words.day.lateness} times={total.lateness} to="/runs?q=late:>1s+since:24h" />
            <TimesNumber
              name={words.day.duration}
              times={total.durations}
              to="/runs?q=state:done+since:24h"
            />
          </dl>
        </>
      )}
    </Panel>
  )
}

/** One bar for each bucket, also for those without an end. */
function barsOf({ fromAt, untilAt, bucketMs, items }: Series, clock: (ms: number) => string): readonly Bar[] {
  const byStart = new Map(items.map((item) => [Date.parse(item.bucketAt), item]))
  const first = Math.floor(Date.parse(fromAt) / bucketMs) * bucketMs
  const count = Math.min(400, Math.ceil((Date.parse(untilAt) - first) / bucketMs))
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * bucketMs
    const { done = 0, failed = 0, cancelled = 0 } = byStart.get(at) ?? {}
    return {
      key: String(at),
      title: `${clock(at)}: ${formatCount(done)} ${words.day.done}, ${formatCount(failed)} ${words.day.failed}`,
      parts: [
        { family: 'ok', count: done },
        { family: 'chosen', count: cancelled },
        { family: 'bad', count: failed },
      ],
    }
  })
}

/** Longer times are counted, not measured. */
const mostMs = 24 * 3_600_000

function TimesNumber({
  name,
  times,
  to,
}: {
  name: string
  times: Times | null
  /** The runs behind it. */
  to: string
}): ReactNode {
  if (times === null) return null
  return (
    <Number name={name}>
      <Link href={to} className={styles['number']}>
        {formatDuration(times.p50Ms)}
      </Link>
      <small>{times.p99Ms < mostMs ? words.day.slow(formatDuration(times.p99Ms)) : words.day.verySlow}</small>
    </Number>
  )
}

function Number({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
