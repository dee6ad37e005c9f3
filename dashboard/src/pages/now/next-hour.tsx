import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Upcoming, UpcomingInstant } from '../../../../src/client/ui-operations.js'
import { exactTime, formatCount, formatDuration } from '../../data/format.js'
import { useNow } from '../../data/now.js'
import { useZone } from '../../data/zone.js'
import { Bars } from '../../parts/bars.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState } from '../../parts/states.js'
import { Time } from '../../parts/time.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/now.js'
import styles from './page.module.css'

const mostRows = 6

/** What is due in the next hour: by minute, and the first instants by name. */
export function NextHour({ upcoming }: { upcoming: Upcoming }): ReactNode {
  const { count, isCapped, minutes, instants } = upcoming
  const zone = useZone()
  const now = useNow()
  // The answer may be some seconds old.
  const coming = instants.filter(({ at }) => Date.parse(at) > now - 1000)
  const most = Math.max(0, ...minutes.map((minute) => minute.count))
  const clock = (at: string): string =>
    exactTime(Date.parse(at), zone, { now: Date.parse(at) }).clock.slice(0, 5)
  const total = common.total(formatCount(count), isCapped)
  return (
    <Panel title={words.next.title} aside={words.next.count(total)}>
      {count === 0 ? (
        <EmptyState title={words.next.nothing} />
      ) : (
        <>
          <div className={styles['chart']}>
            <Bars
              height={36}
              label={words.next.perMinute(total, formatCount(most))}
              bars={minutes.map((minute) => ({
                key: minute.at,
                title: `${clock(minute.at)}: ${formatCount(minute.count)}`,
                parts: [{ family: 'quiet', count: minute.count }],
              }))}
            />
          </div>
          <div className={styles['scale']} aria-hidden="true">
            <span className="mono">{clock(minutes[0]?.at ?? upcoming.untilAt)}</span>
            <span>{words.next.most(formatCount(most))}</span>
            <span className="mono">{clock(upcoming.untilAt)}</span>
          </div>
          <ul>
            {coming.slice(0, mostRows).map((instant) => (
              <Instant key={instant.at} instant={instant} />
            ))}
          </ul>
        </>
      )}
    </Panel>
  )
}

function Instant({ instant: { at, count, triggers } }: { instant: UpcomingInstant }): ReactNode {
  const [first] = triggers
  const isOne = count === 1 && first !== undefined
  const names = triggers.map(({ name }) => name).join(', ')
  const changed = triggers.find(({ change }) => change !== null)?.change
  return (
    <li className={styles['row']}>
      <StateMark mark="due" label={false} />
      <div className={styles['what']}>
        <span className={styles['first']}>
          {isOne ? (
            <Link href={`/triggers/${encodeURIComponent(first.name)}`} className={styles['name']}>
              {first.name}
            </Link>
          ) : (
            <b>{words.next.triggers(formatCount(count))}</b>
          )}
          {isOne && first.usual !== null ? (
            <span className="soft">{words.next.usually(formatDuration(first.usual.medianMs))}</span>
          ) : null}
          {changed === null || changed === undefined ? null : (
            <StateMark mark="late" label={words.next.changes[changed.kind]} />
          )}
        </span>
        {isOne ? null : <span className={`${styles['second']} cut`}>{names}</span>}
      </div>
      <Time at={at} />
    </li>
  )
}
