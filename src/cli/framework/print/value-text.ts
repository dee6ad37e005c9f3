import { formatDuration } from '../../../time/duration.js'
import { isInstantKey } from '../../../time/dated.js'
import type { At } from './time-text.js'

/** Formats a field of a record: an instant as a time, a duration with its unit, a list with commas. */
export function valueText(key = '', value: unknown, time: (at: At) => string): string {
  if (value === undefined || value === null) return ''
  if (value instanceof Date) return time(value)
  if (typeof value === 'number' && isInstantKey(key)) return time(value)
  if (typeof value === 'number' && key.endsWith('Ms')) return formatDuration(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map((one) => valueText('', one, time)).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A key as words: `nextCheckAt` is `next check`. */
export function keyText(key: string): string {
  const words = key.replace(/(?:At|Ms)$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.trim()
}
