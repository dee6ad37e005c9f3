import { readlinkSync } from 'node:fs'
import { formatLocal } from '../../../time/local-time.js'
import type { Instant } from '../../../time/instant.js'
import { type Zone, zoneOf } from '../../../time/zone.js'

/** A time to print. */
export type At = Instant | Date

/** Formats instants in one zone, relative to one moment. */
export class TimeText {
  readonly #zone: Zone
  readonly #now: Instant

  constructor(input: { readonly zone: string; readonly now: Instant }) {
    this.#zone = zoneOf(input.zone)
    this.#now = input.now
  }

  get now(): Instant {
    return this.#now
  }

  get zone(): string {
    return this.#zone.name
  }

  /** Date and time, such as `2026-01-05 09:00:00`. */
  full(at: At): string {
    return formatLocal(Number(at), this.#zone).slice(0, 19).replace('T', ' ')
  }

  /** Date and time with the offset, such as `2026-01-05 09:00:00 +01:00`. */
  exact(at: At): string {
    return `${this.full(at)} ${formatLocal(Number(at), this.#zone).replace(/^.{19}(\.\d+)?/, '')}`
  }

  /** Date and time, without the current year. */
  short(at: At): string {
    const text = this.full(at)
    return text.slice(0, 4) === this.full(this.#now).slice(0, 4) ? text.slice(5) : text.slice(0, 16)
  }

  /** The time of day. */
  clock(at: At): string {
    return this.full(at).slice(11)
  }

  /** The time of day of an instant within a day of now, otherwise with the date. */
  near(at: At): string {
    return Math.abs(Number(at) - this.#now) < 86_400_000 ? this.clock(at) : this.full(at)
  }

  /** How far away it is, such as `in 5m` or `2h ago`. */
  distance(at: At): string {
    return distanceText(Number(at) - this.#now)
  }
}

/** How far away an instant is, such as `in 5m` or `2h ago`. */
export function distanceText(ms: number): string {
  if (Math.abs(ms) < 1000) return 'now'
  return ms > 0 ? `in ${roughly(ms)}` : `${roughly(-ms)} ago`
}

const units = [
  { name: 'y', ms: 365 * 86_400_000 },
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
  { name: 's', ms: 1000 },
] as const

/** A length of time in its two largest units, such as `45ms`, `1.2s`, `3m5s`, `2d4h`. */
export function roughly(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toString()}s`
  const index = units.findIndex((unit) => ms >= unit.ms)
  const [unit, smaller] = [units[index], units[index + 1]]
  if (unit === undefined) return '0s'
  const count = Math.floor(ms / unit.ms)
  const rest = smaller === undefined ? 0 : Math.floor((ms - count * unit.ms) / smaller.ms)
  return `${count}${unit.name}${rest === 0 || smaller === undefined ? '' : `${rest}${smaller.name}`}`
}

/** A length of time in its largest unit, such as `45s`, `3m`, `2d`: for a narrow column. */
export function age(ms: number): string {
  const unit = units.find((one) => ms >= one.ms)
  return unit === undefined ? '0s' : `${Math.floor(ms / unit.ms)}${unit.name}`
}

/** The zone of this machine; UTC if it is unknown. */
export function zoneHere(): string {
  if (isInUtc()) return 'UTC'
  try {
    return zoneOf(new Intl.DateTimeFormat().resolvedOptions().timeZone).name
  } catch {
    return 'UTC'
  }
}

/** Whether the zone of this machine is named UTC, as on most servers: then Intl, which loads slowly, is not needed. */
function isInUtc(): boolean {
  try {
    const name = process.env['TZ'] ?? readlinkSync('/etc/localtime')
    return /^(?:.*\/zoneinfo\/)?(?:Etc\/)?UTC$/.test(name)
  } catch {
    return false
  }
}
