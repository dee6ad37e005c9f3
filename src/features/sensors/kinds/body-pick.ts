import { fault, shown, within, type Place } from '../../../kernel/definition/faults.js'
import type { Json } from '../../../kernel/definition/json.js'
import { payloadFault } from '../../../kernel/job/payload.js'
import { maxKeyBytes, maxPartitionBytes } from '../polling/read-poll.js'
import type { Written } from '../../../kernel/definition/read-value.js'
import { parseJsonPath } from './json-path.js'

/** Selects a value of a body: a path such as `data.partition`, or a function of the body. */
export type BodyPick<T = unknown> = string | ((body: Json) => T | Promise<T>)

/** A compiled pick. */
export interface Picker {
  /** The path, or the source text of the function. */
  readonly source: string
  pick(body: Json): unknown
}

/** Reads a pick of a definition; undefined if there is none or it has a fault. */
export function readPick(input: Written, name: string, place: Place): Picker | undefined {
  const value = input[name]
  if (value === undefined) return undefined
  if (typeof value === 'function') return { source: String(value), pick: value as Picker['pick'] }
  const at = within(place, name)
  if (typeof value !== 'string') return fault(at, `${shown(value)} is neither a path nor a function`)
  try {
    return { source: value, pick: parseJsonPath(value) }
  } catch (error) {
    return fault(at, (error as Error).message)
  }
}

/** The labels of an observation. */
export type LabelName = 'key' | 'partition'

/** Why nothing was picked. */
export interface NotPicked {
  readonly kind: 'none'
  readonly reason: string
}

/** A label that was picked, or why there is none. */
export type PickedLabel = { readonly kind: 'label'; readonly label: string } | NotPicked

/** Picks a value; a function that throws gives a reason. */
export async function pickValue(
  name: string,
  picker: Picker,
  body: Json,
): Promise<{ readonly kind: 'value'; readonly value: unknown } | NotPicked> {
  try {
    return { kind: 'value', value: await picker.pick(body) }
  } catch (error) {
    return { kind: 'none', reason: `the function for ${name} threw: ${messageOf(error)}` }
  }
}

/** Picks a partition or a key: a text, or a whole number as text. */
export async function pickLabel(name: LabelName, picker: Picker, body: Json): Promise<PickedLabel> {
  const picked = await pickValue(name, picker, body)
  return picked.kind === 'none' ? picked : toLabel(name, picked.value)
}

/** Picks the payload of a run; undefined if there is none. */
export async function pickPayload(
  picker: Picker,
  body: Json,
): Promise<{ readonly kind: 'payload'; readonly payload: Json | undefined } | NotPicked> {
  const picked = await pickValue('payload', picker, body)
  if (picked.kind === 'none') return picked
  const refused = payloadFault(picked.value)
  return refused === undefined
    ? { kind: 'payload', payload: picked.value as Json | undefined }
    : { kind: 'none', reason: `the payload cannot be stored: ${refused.message}` }
}

/** Converts a value to a label, or returns why it cannot be one. */
export function toLabel(name: LabelName, value: unknown): PickedLabel {
  const maxBytes = name === 'key' ? maxKeyBytes : maxPartitionBytes
  if (value === undefined || value === null || value === '') {
    return { kind: 'none', reason: `the ${name} is missing` }
  }
  const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
  const text = isWhole ? String(value) : value
  if (typeof text === 'string' && Buffer.byteLength(text) <= maxBytes && !unfit.test(text)) {
    return { kind: 'label', label: text }
  }
  return {
    kind: 'none',
    reason: `the ${name} is ${shown(value)}; a text of at most ${maxBytes} bytes was expected`,
  }
}

/** Control characters, and lone surrogates, which the store would not return unchanged. */
// oxlint-disable-next-line no-control-regex
const unfit = /[\u0000-\u001f\u007f]|\p{Surrogate}/u

/** The message of a thrown value, in one bounded line. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
