import type { Json } from '../../kernel/definition/json.js'

/** A deep copy, as if the value had been written to a disk and read back. */
export function copyJson(value: Json | undefined): Json | undefined {
  if (value === null || typeof value !== 'object') return value
  return JSON.parse(JSON.stringify(value)) as Json
}
