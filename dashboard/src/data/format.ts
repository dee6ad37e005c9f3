/** Numbers, durations and times as text, by `Intl`. */

const number = new Intl.NumberFormat('en')

/** A whole number with separators: 33,310. */
export function formatCount(count: number): string {
  return number.format(count)
}

/** A duration, short and with two units at most: 420 ms, 3.2 s, 7 s, 1m 20s, 5m, 2h 05m, 3d 4h. */
export function formatDuration(ms: number): string {
  const size = Math.abs(ms)
  if (size < 1000) return `${Math.round(size)} ms`
  if (size < 10_000 && size % 1000 !== 0) return `${(size / 1000).toFixed(1)} s`
  if (size < 59_500) return `${Math.round(size / 1000)} s`
  const seconds = Math.round(size / 1000)
  if (seconds < 3600) return twoUnits(`${Math.floor(seconds / 60)}m`, seconds % 60, `${pad(seconds % 60)}s`)
  const minutes = Math.round(seconds / 60)
  if (minutes < 24 * 60) {
    return twoUnits(`${Math.floor(minutes / 60)}h`, minutes % 60, `${pad(minutes % 60)}m`)
  }
  const hours = Math.round(minutes / 60)
  return twoUnits(`${Math.floor(hours / 24)}d`, hours % 24, `${hours % 24}h`)
}

/** The second unit is left out where there is none of it. */
function twoUnits(first: string, rest: number, second: string): string {
  return rest === 0 ? first : `${first} ${second}`
}

/** A duration as prose, shown next to an exact time: 12 s, 5 min, 3 h, 20 days. */
export function formatRough(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000)
  if (seconds < 100) return `${seconds} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/** The parts of an exact time in a zone. */
export interface ExactTime {
  /** Such as `16 Nov` or, in another year than now, `16 Nov 2025`. */
  readonly date: string
  readonly isToday: boolean
  /** Such as `05:00:03`, with milliseconds where asked. */
  readonly clock: string
  /** Such as `+01:00`, or `Z`. */
  readonly offset: string
}

/** An exact time in a zone. */
export function exactTime(ms: number, zone: string, options: { now: number; withMs?: boolean }): ExactTime {
  const parts = partsOf(ms, zone)
  const now = partsOf(options.now, zone)
  const isToday = parts.year === now.year && parts.month === now.month && parts.day === now.day
  const year = parts.year === now.year ? '' : ` ${parts.year}`
  const fraction = options.withMs === true ? `.${String(Math.floor(ms % 1000)).padStart(3, '0')}` : ''
  return {
    date: `${Number(parts.day)} ${parts.month}${year}`,
    isToday,
    clock: `${parts.hour}:${parts.minute}:${parts.second}${fraction}`,
    offset: parts.offset,
  }
}

interface TimeParts {
  readonly year: string
  readonly month: string
  readonly day: string
  readonly hour: string
  readonly minute: string
  readonly second: string
  readonly offset: string
}

const formats = new Map<string, Intl.DateTimeFormat>()
/** Parts of seconds that were asked for before: each time on a page is asked for every second. */
const known = new Map<string, TimeParts>()
const mostKnown = 5000

function partsOf(ms: number, zone: string): TimeParts {
  const key = `${Math.floor(ms / 1000)} ${zone}`
  const before = known.get(key)
  if (before !== undefined) return before
  const format = formats.get(zone) ?? makeFormat(zone)
  formats.set(zone, format)
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]))
  const offset = (parts['timeZoneName'] ?? '').replace('GMT', '')
  const made = { ...(parts as unknown as TimeParts), offset: offset === '' ? 'Z' : offset }
  if (known.size >= mostKnown) known.clear()
  known.set(key, made)
  return made
}

function makeFormat(zone: string): Intl.DateTimeFormat {
  const options: Intl.DateTimeFormatOptions = {
    year: 'numeric',
    month: 'short',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  }
  try {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })
  } catch {
    // A zone that this browser does not know: UTC is never wrong, and the offset says so.
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' })
  }
}

function pad(value: number): string {
  return String(value).padStart(2, '0')
}
