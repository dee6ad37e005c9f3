import { boundText } from '../../../kernel/definition/bounds.js'
import { shown } from '../../../kernel/definition/faults.js'
import type { Json } from '../../../kernel/definition/json.js'
import { copyJson, payloadFault } from '../../../kernel/job/payload.js'
import type { Observation } from '../sensor.js'

/** What a poll came to, checked: everything in it can be stored. */
export interface Sensed {
  readonly kind: 'trigger' | 'no-trigger' | 'error'
  readonly observations: readonly Observation[]
  /** Why nothing was found, or what went wrong. */
  readonly reason: string | undefined
  /** The state from now on; undefined where the one before stays. */
  readonly state: { readonly value: Json } | undefined
  readonly more: boolean
}

/** The most observations that one poll may hand over. */
const maxObservations = 100_000

/** The most bytes of UTF-8 that the key of an observation may have. */
export const maxKeyBytes = 1024

/** The most bytes of UTF-8 that a partition may have. */
export const maxPartitionBytes = 256

/** A poll that failed, with the state that is kept. */
export function failedPoll(reason: string, state?: Sensed['state']): Sensed {
  return { kind: 'error', observations: [], reason: boundText(reason, maxReasonBytes), state, more: false }
}

/** Checks what an init returned; gives the state or what is wrong. */
export function readInit(value: unknown): { readonly value: Json } | Sensed {
  const { kind, state, reason } = fieldsOf(value)
  if (kind === 'error') return failedPoll(`init refused: ${textOf(reason)}`)
  if (kind !== 'ok') return failedPoll(`init returned ${shown(value)}, neither ok nor error`)
  return readState(state) ?? failedPoll(`init: ${stateProblem(state)}`)
}

/** Checks what a poll returned. Nonsense is a failed poll, and what it says of the state is then not believed. */
export function readPoll(value: unknown): Sensed {
  const { kind, state, reason, observations, more } = fieldsOf(value)
  if (kind !== 'trigger' && kind !== 'no-trigger' && kind !== 'error') {
    const what = kind === undefined ? shown(value) : `the kind ${shown(kind)}`
    return failedPoll(`the poll returned ${what} instead of trigger, no-trigger or error`)
  }
  const next = readState(state)
  if (kind === 'error') return failedPoll(textOf(reason), next)
  if (next === undefined) return failedPoll(stateProblem(state))
  const rest = { state: next, more: more === true }
  if (kind === 'no-trigger') {
    return {
      kind,
      observations: [],
      reason: reason === undefined ? undefined : boundText(textOf(reason), maxReasonBytes),
      ...rest,
    }
  }
  const read = readObservations(observations)
  return typeof read === 'string'
    ? failedPoll(read)
    : { kind, observations: read, reason: undefined, ...rest }
}

/** What keeps something from being an observation, in one sentence. */
export function observationProblem(value: unknown): string | undefined {
  const { key, partition, payload } = fieldsOf(value)
  return (
    labelProblem('key', key, maxKeyBytes) ??
    labelProblem('partition', partition, maxPartitionBytes) ??
    payloadFault(payload)?.message
  )
}

const maxReasonBytes = 2048

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function textOf(reason: unknown): string {
  return typeof reason === 'string' && reason !== '' ? reason : 'it gave no reason'
}

function readState(state: unknown): { readonly value: Json } | undefined {
  if (state === undefined || payloadFault(state) !== undefined) return undefined
  return { value: copyJson(state) as Json }
}

function stateProblem(state: unknown): string {
  return `the state cannot be kept: ${payloadFault(state)?.message ?? 'there is none'}`
}

/** Copies of the observations, or what is wrong with the first that is wrong. */
function readObservations(value: unknown): readonly Observation[] | string {
  if (!Array.isArray(value) || value.length === 0) return 'the poll triggered without an observation'
  if (value.length > maxObservations) {
    return `the poll returned ${value.length} observations; at most ${maxObservations} fit, the rest with more: true`
  }
  const read: Observation[] = []
  for (const [index, one] of value.entries()) {
    const problem = observationProblem(one)
    if (problem !== undefined) return `observation ${index}: ${problem}`
    read.push(copyObservation(one as Observation))
  }
  return read
}

/** A copy that nobody else can change any more. */
export function copyObservation({ key, partition, payload }: Observation): Observation {
  return { key, partition, ...(payload === undefined ? {} : { payload: copyJson(payload) }) }
}

function labelProblem(what: string, value: unknown, maxBytes: number): string | undefined {
  if (typeof value !== 'string' || value === '') return `its ${what} is ${shown(value)}, not a text`
  if (value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes) {
    return `its ${what} has more than ${maxBytes} bytes`
  }
  // A lone half of a pair would not come back from the store as it went in.
  return /\p{Surrogate}/u.test(value) ? `its ${what} is not well-formed text` : undefined
}
