import { fault, shown, type Place } from '../../../kernel/definition/faults.js'
import type { Json } from '../../../kernel/definition/json.js'
import { payloadFault } from '../../../kernel/job/payload.js'
import { maxKeyBytes, maxPartitionBytes } from '../polling/read-poll.js'
import type { Observation } from '../sensor.js'
import { parseJsonPath } from './json-path.js'

/** Selects a value of a body: a path such as `data.partition`, or a function of the body. */
export type BodyPick<T = unknown> = string | ((body: Json) => T | Promise<T>)

/** A compiled pick. */
export interface Picker {
  /** The path, or the source text of the function. */
  readonly source: string
  readonly pick: (body: Json) => unknown
}

/** The pick of a path; throws if that is invalid. */
export function pathTo(path: string): Picker {
  return { source: path, pick: parseJsonPath(path) }
}

/** Reads a pick of a definition; undefined if there is none or it has a fault. */
export function readPick(value: unknown, place: Place): Picker | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'function') return { source: String(value), pick: value as Picker['pick'] }
  if (typeof value !== 'string') return fault(place, `${shown(value)} is neither a path nor a function`)
  try {
    return pathTo(value)
  } catch (error) {
    return fault(place, (error as Error).message)
  }
}

/** Picks an observation of a body; throws if it has none. Its key is its partition by default. */
export async function pickObservation(
  picks: {
    readonly partition: Picker
    readonly key: Picker | undefined
    readonly payload: Picker | undefined
  },
  body: Json,
): Promise<Observation> {
  const partition = await pickLabel('partition', picks.partition.pick, body)
  const key = picks.key === undefined ? partition : await pickLabel('key', picks.key.pick, body)
  if (picks.payload === undefined) return { key, partition }
  const payload = await pickValue('payload', picks.payload.pick, body)
  const refused = payloadFault(payload)
  if (refused !== undefined) throw new Error(`the payload cannot be stored: ${refused.message}`)
  return { key, partition, payload: payload as Json | undefined }
}

/** Calls a function of the user; the error names what it is for. */
export async function pickValue<Given>(
  name: string,
  pick: (given: Given) => unknown,
  given: Given,
): Promise<unknown> {
  try {
    return await pick(given)
  } catch (error) {
    throw new Error(`the function for ${name} threw: ${messageOf(error)}`, { cause: error })
  }
}

/** Picks a partition or a key; throws if the value cannot be one. */
export async function pickLabel<Given>(
  name: 'key' | 'partition',
  pick: (given: Given) => unknown,
  given: Given,
): Promise<string> {
  return toLabel(name, await pickValue(name, pick, given))
}

/** Converts a text or a whole number to a partition or a key; throws if it cannot be one. */
export function toLabel(name: 'key' | 'partition', value: unknown): string {
  const maxBytes = name === 'key' ? maxKeyBytes : maxPartitionBytes
  if (value === undefined || value === null || value === '') throw new Error(`the ${name} is missing`)
  const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
  const text = isWhole ? String(value) : value
  if (typeof text === 'string' && Buffer.byteLength(text) <= maxBytes && !unfit.test(text)) return text
  throw new Error(`the ${name} is ${shown(value)}; a text of at most ${maxBytes} bytes was expected`)
}

/** Control characters, and lone surrogates, which the store would not return unchanged. */
// oxlint-disable-next-line no-control-regex
const unfit = /[\u0000-\u001f\u007f]|\p{Surrogate}/u

/** The message of a thrown value, in one bounded line. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
