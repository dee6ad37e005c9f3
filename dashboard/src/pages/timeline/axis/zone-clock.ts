/** The clock of a zone, by `Intl`: local times are in milliseconds as if they were UTC. */

/** Reads the clock of one zone. */
export interface ZoneClock {
  readonly zone: string
  /** The local time at an instant. */
  toLocal(ms: number): number
  /** The instants of a local time: one, none where clocks skip it, or two where they go back. */
  toInstants(localMs: number): readonly number[]
}

const day = 86_400_000
/** Every offset of today and of this century's past is a multiple of 15 minutes, and changes at such a multiple. */
const quarter = 15 * 60_000
const mostRemembered = 20_000

/** Makes the clock of a zone; one that this browser does not know is UTC. */
export function makeZoneClock(zone: string): ZoneClock {
  const format = makeFormat(zone)
  const offsets = new Map<number, number>()
  const offsetAt = (ms: number): number => {
    const slot = Math.floor(ms / quarter)
    const known = offsets.get(slot)
    if (known !== undefined) return known
    const offset = readLocal(format, slot * quarter) - slot * quarter
    if (offsets.size >= mostRemembered) offsets.clear()
    offsets.set(slot, offset)
    return offset
  }
  return {
    zone,
    toLocal: (ms) => ms + offsetAt(ms),
    toInstants: (localMs) => {
      // An offset that is in force within a day of the local time is one of these two.
      const offsetsNear = new Set([offsetAt(localMs - day), offsetAt(localMs + day)])
      return [...offsetsNear]
        .map((offset) => localMs - offset)
        .filter((ms) => ms + offsetAt(ms) === localMs)
        .toSorted((one, other) => one - other)
    },
  }
}

function makeFormat(zone: string): Intl.DateTimeFormat {
  const options: Intl.DateTimeFormatOptions = {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    hourCycle: 'h23',
    calendar: 'gregory',
    numberingSystem: 'latn',
  }
  try {
    return new Intl.DateTimeFormat('en', { ...options, timeZone: zone })
  } catch {
    return new Intl.DateTimeFormat('en', { ...options, timeZone: 'UTC' })
  }
}

function readLocal(format: Intl.DateTimeFormat, ms: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
  for (const { type, value } of format.formatToParts(ms)) parts[type] = Number(value)
  const { year = 1970, month = 1, day: dayOfMonth = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, dayOfMonth, hour, minute, second)
}
