import { boundText } from '../../../kernel/definition/bounds.js'
import { shown } from '../../../kernel/definition/faults.js'
import type { Json } from '../../../kernel/definition/json.js'
import { copyJson, payloadFault } from '../../../kernel/job/payload.js'
import type { Observation } from '../sensor.js'

/** The checked result of a poll: everything in it can be stored. */
export interface Sensed {
  readonly kind: 'trigger' | 'no-trigger' | 'error'
  readonly observations: readonly Observation[]
  /** Why nothing was found, or what went wrong. */
  readonly reason: string | undefined
  /** The new state; undefined if the previous one stays. */
  readonly state: { readonly value: Json } | undefined
  readonly more: boolean
}

/** The maximum number of observations of one poll. */
const maxObservations = 100_000

/** The most bytes of UTF-8 that the key of an observation may have. */
export const maxKeyBytes = 1024

/** The most bytes of UTF-8 that a partition may have. */
export const maxPartitionBytes = 256

/** A poll that failed, with the state that is kept. */
export function failedPoll(reason: string, state?: Sensed['state']): Sensed {
  return { kind: 'error', observations: [], reason: boundText(reason, maxReasonBytes), state, more: false }
}

/** The state that an init returned; throws if there is none. */
export function readInit(value: unknown): { readonly value: Json } {
  const { kind, state, reason } = fieldsOf(value)
  if (kind === 'error') throw new Error(`init refused: ${textOf(reason)}`)
  if (kind !== 'ok') throw new Error(`init returned ${shown(value)}, neither ok nor error`)
  const begun = readState(state)
  if (begun === undefined) throw new Error(`init: ${stateProblem(state)}`)
  return begun
}

/** Checks the return value of a poll. Throws if it is invalid; its state is then not used. */
export function readPoll(value: unknown): Sensed {
  const { kind, state, reason, observations, more } = fieldsOf(value)
  if (kind !== 'trigger' && kind !== 'no-trigger' && kind !== 'error') {
    const what = kind === undefined ? shown(value) : `the kind ${shown(kind)}`
    throw new Error(`the poll returned ${what} instead of trigger, no-trigger or error`)
  }
  const next = readState(state)
  if (kind === 'error') return failedPoll(textOf(reason), next)
  if (next === undefined) throw new Error(stateProblem(state))
  const told = reason === undefined ? undefined : boundText(textOf(reason), maxReasonBytes)
  return {
    kind,
    observations: kind === 'trigger' ? readObservations(observations) : [],
    reason: kind === 'trigger' ? undefined : told,
    state: next,
    more: more === true,
  }
}

/** Why a value is not an observation, in one sentence. */
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

/** Copies of the observations; throws the fault of the first invalid one. */
function readObservations(value: unknown): readonly Observation[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new Error('the poll triggered without an observation')
  if (value.length > maxObservations) {
    const most = `at most ${maxObservations} fit, the rest with more: true`
    throw new Error(`the poll returned ${value.length} observations; ${most}`)
  }
  return value.map((one: unknown, index) => {
    const problem = observationProblem(one)
    if (problem !== undefined) throw new Error(`observation ${index}: ${problem}`)
    return copyObservation(one as Observation)
  })
}

/** A copy that other code cannot change. */
export function copyObservation({ key, partition, payload }: Observation): Observation {
  return { key, partition, ...(payload === undefined ? {} : { payload: copyJson(payload) }) }
}

function labelProblem(what: string, value: unknown, maxBytes: number): string | undefined {
  if (typeof value !== 'string' || value === '') return `its ${what} is ${shown(value)}, not a text`
  if (value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes) {
    return `its ${what} has more than ${maxBytes} bytes`
  }
  // The store would not return a lone surrogate unchanged.
  return /\p{Surrogate}/u.test(value) ? `its ${what} is not well-formed text` : undefined
}
