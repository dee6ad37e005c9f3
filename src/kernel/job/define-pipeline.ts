import { MAX_DURATION_MS } from '../../time/duration.js'
import { readCommand, readRequest, type CommandInput, type HttpInput } from './define-handler.js'
import { fault, shown, within, type Place } from '../definition/faults.js'
import { frozen } from '../definition/frozen.js'
import type { Json } from '../definition/json.js'
import { copyJson, payloadFault } from './payload.js'
import type { Pipeline, Step, StepRetry } from './pipeline.js'
import {
  readDuration,
  readFlag,
  readName,
  readOptions,
  readWhole,
  type Written,
} from '../definition/read-value.js'

/** A pipeline as its file writes it. */
interface PipelineFile {
  /** Default: the name of the file without its extension. */
  readonly name?: string
  /** Whether another attempt resumes at the step that failed; default: it starts over. */
  readonly resume?: boolean
  /** Performed in order; the first one that fails ends the run. @minItems 1 @maxItems 100 */
  readonly steps: readonly StepInFile[]
}

/** A step; exactly one of `run`, `http` and `uses` is there. */
interface StepInFile {
  /** Its name in results and errors; default: step-1, step-2 and so on. @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ */
  readonly id?: string
  /** A command. @minItems 1 @maxItems 1000 */
  readonly run?: readonly string[] | CommandInput
  /** A request; the body `params` or `results` is replaced by those values. */
  readonly http?: HttpInput
  /** The name of a function that the app registered. */
  readonly uses?: string
  /** Passed to that function. */
  readonly config?: Json
  /** The time limit of an attempt. */
  readonly timeout?: string | number
  /** How often it is tried before it counts as failed. @minimum 1 @maximum 100 */
  readonly retry?: number | RetryInFile
}

interface RetryInFile {
  /** @minimum 1 @maximum 100 */
  readonly attempts?: number
  readonly delay?: string | number
}

const pipelineKeys: readonly (keyof PipelineFile)[] = ['name', 'resume', 'steps']
const actionKeys = ['run', 'http', 'uses'] as const
const stepKeys: readonly (keyof StepInFile)[] = ['id', ...actionKeys, 'config', 'timeout', 'retry']
const retryKeys: readonly (keyof RetryInFile)[] = ['attempts', 'delay']
const mostSteps = 100

/** Reads a frozen pipeline; records faults at the place and returns undefined if there are any. */
export function readPipeline(
  value: unknown,
  defaults: { readonly name: string },
  place: Place,
): Pipeline | undefined {
  const before = place.faults.length
  const input = readOptions(value, pipelineKeys, place)
  if (input === undefined) return undefined
  const name = input['name'] === undefined ? defaults.name : readName(input['name'], within(place, 'name'))
  const resume = readFlag(input['resume'], within(place, 'resume')) ?? false
  const steps = readSteps(input['steps'], place)
  if (place.faults.length > before || name === undefined) return undefined
  return frozen({ name, steps, resume })
}

const stepsAllowed = `a list of 1 to ${mostSteps} steps`

function readSteps(value: unknown, pipeline: Place): readonly Step[] {
  const place = within(pipeline, 'steps')
  if (value === undefined) fault(pipeline, 'steps are missing', stepsAllowed)
  else if (!Array.isArray(value) || value.length === 0 || value.length > mostSteps) {
    fault(place, `${shown(value)} is not a list of steps`, stepsAllowed)
  }
  if (!Array.isArray(value)) return []
  const steps = value.map((step: unknown, index) => readStep({ step, index }, within(place, index)))
  refuseTwice(steps, place)
  return steps.filter((step) => step !== undefined)
}

function refuseTwice(steps: readonly (Step | undefined)[], place: Place): void {
  const seen = new Map<string, number>()
  for (const [index, step] of steps.entries()) {
    if (step === undefined) continue
    const other = seen.get(step.id)
    if (other === undefined) seen.set(step.id, index)
    else fault(within(place, index), `its id ${step.id} duplicates steps[${other}]`, 'a unique id')
  }
}

function readStep(
  { step, index }: { readonly step: unknown; readonly index: number },
  place: Place,
): Step | undefined {
  const before = place.faults.length
  const input = readOptions(step, stepKeys, place)
  if (input === undefined) return undefined
  const id = readId(input['id'], within(place, 'id')) ?? `step-${index + 1}`
  const action = readAction(input, place)
  const timeoutMs = readDuration(input['timeout'], timeoutBounds, within(place, 'timeout'))
  const retry = readRetry(input['retry'], within(place, 'retry'))
  if (place.faults.length > before || action === undefined) return undefined
  return { id, action, timeoutMs, retry }
}

const timeoutBounds = { min: 1, max: MAX_DURATION_MS, allowed: 'from 1ms to 36525d' }
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

function readId(value: unknown, place: Place): string | undefined {
  if (value === undefined || (typeof value === 'string' && idPattern.test(value))) return value
  return fault(
    place,
    `${shown(value)} is not an id`,
    '1 to 64 of the characters A-Z a-z 0-9 . _ -, beginning with a letter or digit',
  )
}

const actionAllowed = 'exactly one of run, http, uses'

function readAction(input: Written, place: Place): Step['action'] | undefined {
  const chosen = actionKeys.filter((key) => input[key] !== undefined)
  const [way, second] = chosen
  if (way === undefined) return fault(place, 'no action is defined', actionAllowed)
  if (second !== undefined) return fault(place, `${chosen.join(' and ')} cannot be combined`, actionAllowed)
  if (way !== 'uses' && input['config'] !== undefined) {
    fault(within(place, 'config'), `it cannot be used with ${way}`, 'only with uses')
  }
  switch (way) {
    case 'run':
      return readCommand(input['run'], within(place, 'run'))
    case 'http':
      return readRequest(input['http'], within(place, 'http'))
    case 'uses': {
      const name = readName(input['uses'], within(place, 'uses'))
      const config = readJson(input['config'], within(place, 'config'))
      return name === undefined ? undefined : { kind: 'uses', name, config }
    }
  }
}

function readJson(value: unknown, place: Place): Json | undefined {
  const problem = payloadFault(value)
  return problem === undefined ? copyJson(value) : fault(place, problem.message, problem.allowed)
}

const once: StepRetry = { attempts: 1, delayMs: 1000 }
const attemptBounds = { min: 1, max: 100 }
/** The step waits in the slot of its worker, so long delays belong into the retry policy of the job. */
const delayBounds = { min: 0, max: 3_600_000, allowed: 'from 0s to 1h' }

function readRetry(value: unknown, place: Place): StepRetry {
  if (value === undefined) return once
  if (typeof value === 'number') {
    return { ...once, attempts: readWhole(value, attemptBounds, place) ?? once.attempts }
  }
  const input = readOptions(value, retryKeys, place)
  if (input === undefined) return once
  return {
    attempts: readWhole(input['attempts'], attemptBounds, within(place, 'attempts')) ?? 3,
    delayMs: readDuration(input['delay'], delayBounds, within(place, 'delay')) ?? once.delayMs,
  }
}
