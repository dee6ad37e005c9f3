import type { Json } from '../definition/json.js'

/** The canonical JSON text of a value: keys sorted, no spaces. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  // Built as text, not as a sorted copy: an object does not keep the order of keys that look like numbers.
  const texts = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`)
  return `{${texts.join(',')}}`
}
