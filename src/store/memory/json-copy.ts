import type { Json } from '../../kernel/definition/json.js'

/** A copy that shares nothing, as if the value had gone to a disk and come back. */
export function copyJson(value: Json | undefined): Json | undefined {
  if (value === null || typeof value !== 'object') return value
  return JSON.parse(JSON.stringify(value)) as Json
}
