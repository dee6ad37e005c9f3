import type { Json } from '../definition/json.js'

/** A value as the one JSON text that all equal values have: keys sorted, no spaces. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  // As text, not as a sorted copy: an object keeps no order among keys that look like numbers.
  const texts = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`)
  return `{${texts.join(',')}}`
}
