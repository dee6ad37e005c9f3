import type { ReactNode } from 'react'
import { exactTime, formatRough } from '../data/format.js'
import { useNow } from '../data/now.js'
import { useZone } from '../data/zone.js'
import { words } from '../words/common.js'
import styles from './time.module.css'

/** An exact time in the chosen zone, with how far away it is beside it; ISO on hover. */
export function Time({
  at,
  zone: ofTrigger,
  relative = true,
  withMs = false,
  withOffset = false,
}: {
  /** ISO text, as the API gives it. */
  at: string
  /** The zone of the trigger that it belongs to. */
  zone?: string | undefined
  relative?: boolean
  withMs?: boolean
  withOffset?: boolean
}): ReactNode {
  const zone = useZone(ofTrigger)
  const now = useNow()
  const ms = Date.parse(at)
  const { date, isToday, clock, offset } = exactTime(ms, zone, { now, withMs })
  return (
    <span className={styles['time']}>
      <time dateTime={at} title={`${at} · ${zone}`}>
        {isToday ? clock : `${date} ${clock}`}
        {withOffset ? <span className="soft"> {offset}</span> : null}
      </time>
      {relative ? <span className={styles['relative']}>{relativeText(ms, now)}</span> : null}
    </span>
  )
}

/** How far a time is away, as text. */
export function relativeText(ms: number, now: number): string {
  const rough = formatRough(ms - now)
  if (Math.abs(ms - now) < 1000) return words.now
  return ms < now ? words.time.ago(rough) : words.time.in(rough)
}
