import type { ReactNode } from 'react'
import { exactTime, formatRough } from '../data/format.js'
import { useFromNow } from '../data/now.js'
import { useZone } from '../data/zone.js'
import { words } from '../words/common.js'
import styles from './time.module.css'

/** An exact time in the chosen zone, followed by the relative time. The tooltip is the ISO text. */
export function Time({
  at,
  zone: ofTrigger,
  relative = true,
  withMs = false,
  withOffset = false,
  withDate = false,
}: {
  /** ISO text, as the API gives it. */
  at: string
  /** The zone of the trigger that it belongs to. */
  zone?: string | undefined
  relative?: boolean
  withMs?: boolean
  withOffset?: boolean
  /** Whether the day is shown even if it is today. */
  withDate?: boolean
}): ReactNode {
  const zone = useZone(ofTrigger)
  const ms = Date.parse(at)
  const text = useFromNow((now) => {
    const { date, isToday, clock } = exactTime(ms, zone, { now, withMs })
    return isToday && !withDate ? clock : `${date} ${clock}`
  })
  return (
    <span className={styles['time']}>
      <time dateTime={at} title={`${at} · ${zone}`}>
        {text}
        {withOffset ? <span className="soft"> {exactTime(ms, zone, { now: ms }).offset}</span> : null}
      </time>
      {relative ? <Relative ms={ms} /> : null}
    </span>
  )
}

function Relative({ ms }: { ms: number }): ReactNode {
  return <span className={styles['relative']}>{useFromNow((now) => relativeText(ms, now))}</span>
}

/** Two times. If they are on different days, both show their day. */
export function TimeSpan({
  from,
  until,
  between = '–',
}: {
  from: string
  until: string
  between?: string
}): ReactNode {
  const zone = useZone(undefined)
  const dayOf = (at: string): string => exactTime(Date.parse(at), zone, { now: Date.parse(from) }).date
  const withDate = dayOf(from) !== dayOf(until)
  return (
    <>
      <Time at={from} relative={false} withDate={withDate} /> {between}{' '}
      <Time at={until} relative={false} withDate={withDate} />
    </>
  )
}

/** The relative time as text. */
export function relativeText(ms: number, now: number): string {
  const rough = formatRough(ms - now)
  if (Math.abs(ms - now) < 1000) return words.now
  return ms < now ? words.time.ago(rough) : words.time.in(rough)
}
