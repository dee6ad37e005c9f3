import { readAlerts, type AlertsOption } from '../alert/alerts-option.js'
import { MAX_DURATION_MS } from '../../time/duration.js'
import {
  handlerOptionNames,
  readHandler,
  type CommandInput,
  type HttpInput,
  type ModuleInput,
} from './define-handler.js'
import type { DefinitionDefaults } from '../definition/definitions.js'
import { refuse } from '../definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../definition/faults.js'
import { frozen } from '../definition/frozen.js'
import { jobDefaults, type HandlerSpec, type Job } from './job.js'
import {
  isMap,
  readChoice,
  readConcurrency,
  readDuration,
  readName,
  readOptions,
  readPriority,
  readWhole,
  type Written,
} from '../definition/read-value.js'
import { noteFasterKeys, readRates, type RateLimitOptions } from './define-rate.js'
import { readJobRetention, type RetentionOptions } from './retention.js'
import { noRetry, type RetryPolicy } from './retry.js'
import { readSla } from '../sla/define-sla.js'
import type { SlaInput } from '../sla/sla.js'

/** How a job is queued, retried and limited, whatever its handler is. */
export interface JobOptions {
  /** The queue its runs wait in; default: `default`. */
  readonly queue?: string | undefined
  /** Of the runs that are due, those with a higher priority start first; default: 0. @minimum -1000000 @maximum 1000000 */
  readonly priority?: number | undefined
  /** The retry policy. A number is the number of attempts, including the first; default: 1. @minimum 1 @maximum 1000 */
  readonly retry?: number | RetryOptions | undefined
  /** The time limit of an attempt, such as `10m`, or milliseconds; default: none. */
  readonly timeout?: string | number | undefined
  /** How many runs of this job may run concurrently, over all workers; default: unlimited. @minimum 1 */
  readonly concurrency?: number | undefined
  /** How many runs with the same concurrency key may run concurrently, over all workers; default: 1. @minimum 1 */
  readonly concurrencyPerKey?: number | undefined
  /** How many attempts may start in a period, over all workers; default: unlimited. */
  readonly limit?: RateLimitOptions | undefined
  /** The same for each concurrency key; runs without a key do not count. Default: unlimited. */
  readonly limitPerKey?: RateLimitOptions | undefined
  /** How many workers a run may crash before it is quarantined; default: 3. @minimum 1 @maximum 100 */
  readonly maxCrashes?: number | undefined
  /** The channels to which its problems are reported, instead of the rules of the app; false: none. @minItems 1 @maxItems 50 */
  readonly alerts?: AlertsOption | undefined
  /** The job that gets a run for each run that failed after its last attempt, in the same transaction; default: none. */
  readonly deadLetter?: string | undefined
  /** How long its final runs are kept, such as `7d`, or one for each final state; default: the `retention` of the app. */
  readonly retention?: string | number | RetentionOptions | undefined
  /** How soon its runs begin and end, whatever created them, and how old the last success may be; a breach is recorded and can be reported. Default: no promises. */
  readonly sla?: SlaInput | undefined
}

/** How often and after which delays a failed run is retried. */
export interface RetryOptions {
  /** The number of attempts, including the first; default: 3. @minimum 1 @maximum 1000 */
  readonly attempts?: number | undefined
  /** How the delay grows with each failure; default: `exponential`. */
  readonly backoff?: RetryPolicy['backoff'] | undefined
  /** The first delay, such as `30s`, or milliseconds; default: one second. */
  readonly delay?: string | number | undefined
  /** The longest delay; default: one hour, or `delay` if that is longer. */
  readonly maxDelay?: string | number | undefined
  /** The random part of each delay, from 0 (none) to 1 (all of it); default: 0.2. @fraction @minimum 0 @maximum 1 */
  readonly jitter?: number | undefined
  /** What is not retried: classes and codes of errors such as `TypeError` or `ENOENT`, exit codes of commands, statuses of answers; default: nothing. @maxItems 100 */
  readonly not?: readonly (string | number)[] | undefined
}

/** A job as a config file, the command line or the API writes it: its options, and exactly one of `command`, `shell`, `http`, `pipeline` or `handler`. */
export interface JobInput extends JobOptions {
  /** A command as a list of arguments, run without a shell. @minItems 1 @maxItems 1000 */
  readonly command?: readonly string[] | CommandInput | undefined
  /** A line for `/bin/sh -c`. Rota inserts nothing into it: the run and its payload are variables, such as `$ROTA_PAYLOAD`. @minLength 1 */
  readonly shell?: string | undefined
  /** A request to send. */
  readonly http?: HttpInput | undefined
  /** A pipeline file, relative to the directory of the app; read when a run starts, so that edits take effect. @minLength 1 */
  readonly pipeline?: string | undefined
  /** A function of this process (in code only), or a module that exports one. */
  readonly handler?: ((run: never) => unknown) | ModuleInput | undefined
  /** Runs each attempt of a module's function in its own thread or process. */
  readonly isolate?: 'thread' | 'process' | undefined
  /** The memory limit of the JavaScript heap in MiB; default: 512. @minimum 16 @maximum 1048576 */
  readonly memoryMb?: number | undefined
}

/** The names of the options that every job can have. */
export const jobOptionNames: readonly (keyof JobOptions)[] = [
  'queue',
  'priority',
  'retry',
  'timeout',
  'concurrency',
  'concurrencyPerKey',
  'maxCrashes',
  'alerts',
  'deadLetter',
  'limit',
  'limitPerKey',
  'retention',
  'sla',
]

/** The frozen job of a definition; throws one error with all its faults. */
export function defineJob(name: string, input: JobInput): Job {
  const place = placeOf()
  const job = readJob({ name, input }, place)
  refuse(`job ${shown(name)}`, place.faults)
  return job as Job
}

/** The function of a job, if it is a function of this process. */
export function functionOf(input: unknown): ((run: never) => unknown) | undefined {
  const handler = isMap(input) ? input['handler'] : undefined
  return typeof handler === 'function' ? (handler as (run: never) => unknown) : undefined
}

/** Reads a frozen job; records faults at the place and returns undefined if there are any. */
export function readJob(
  written: {
    readonly name: unknown
    readonly input: unknown
    readonly defaults?: DefinitionDefaults | undefined
    /** Options that the caller reads. */
    readonly others?: readonly string[] | undefined
    /** The zone of the times of day that it promises; default: that of the defaults. */
    readonly zone?: string | undefined
  },
  place: Place,
): Job | undefined {
  const { others = [], defaults } = written
  const before = place.faults.length
  const name = readName(written.name, place)
  const input = readOptions(written.input, [...handlerOptionNames, ...jobOptionNames, ...others], place)
  if (input === undefined) return undefined
  const handler = withVariables(readHandler(input, place), defaults?.env)
  const queue = input['queue'] === undefined ? undefined : readName(input['queue'], within(place, 'queue'))
  const rest = {
    queue: queue ?? jobDefaults.queue,
    priority: readPriority(input['priority'], within(place, 'priority')) ?? jobDefaults.priority,
    retry: readRetry(input['retry'], within(place, 'retry')),
    timeoutMs: readDuration(input['timeout'], timeoutBounds, within(place, 'timeout')),
    ...readLimits(input, place),
    ...(input['alerts'] === undefined
      ? {}
      : { alerts: readAlerts(input['alerts'], within(place, 'alerts')) }),
    ...readJobRates(input, place),
    ...readJobRetention(input['retention'], within(place, 'retention')),
    ...readDeadLetter(input['deadLetter'], name, within(place, 'deadLetter')),
    ...(input['sla'] === undefined
      ? {}
      : {
          sla: readSla(input['sla'], within(place, 'sla'), {
            hasPartitions: others.includes('partitions'),
            timezone: written.zone ?? defaults?.timezone ?? 'UTC',
          }),
        }),
  }
  if (place.faults.length > before || name === undefined || handler === undefined) return undefined
  return frozen({ name, handler, ...rest })
}

function readJobRates(input: Written, place: Place): Pick<Job, 'limit' | 'limitPerKey'> {
  const rates = readRates(input, ['limit', 'limitPerKey'], place)
  noteFasterKeys(rates, place)
  return rates
}

function withVariables(
  handler: HandlerSpec | undefined,
  env: DefinitionDefaults['env'],
): HandlerSpec | undefined {
  if (env === undefined || (handler?.kind !== 'shell' && handler?.kind !== 'pipeline')) return handler
  return { ...handler, env: { ...env, ...handler.env } }
}

const timeoutBounds = { min: 1, max: MAX_DURATION_MS, allowed: 'from 1ms to 36525d' }

function readLimits(
  input: Written,
  place: Place,
): Pick<Job, 'concurrency' | 'concurrencyPerKey' | 'maxCrashes'> {
  const concurrencyPerKey = readConcurrency(input['concurrencyPerKey'], within(place, 'concurrencyPerKey'))
  const maxCrashes = readWhole(input['maxCrashes'], { min: 1, max: 100 }, within(place, 'maxCrashes'))
  const concurrency = readConcurrency(input['concurrency'], within(place, 'concurrency'))
  if (concurrency !== undefined && concurrencyPerKey !== undefined && concurrencyPerKey > concurrency)
    fault(
      within(place, 'concurrencyPerKey'),
      `${concurrencyPerKey} contradicts \`concurrency\` (${concurrency}): one key cannot have more than all keys together`,
      `at most ${concurrency}`,
    )
  return {
    concurrency,
    concurrencyPerKey: concurrencyPerKey ?? jobDefaults.concurrencyPerKey,
    maxCrashes: maxCrashes ?? jobDefaults.maxCrashes,
  }
}

function readDeadLetter(
  value: unknown,
  job: string | undefined,
  place: Place,
): { readonly deadLetter?: string } {
  if (value === undefined) return {}
  const deadLetter = readName(value, place)
  if (deadLetter === undefined) return {}
  if (deadLetter === job) fault(place, 'a job cannot be its own dead-letter job', 'the name of another job')
  return { deadLetter }
}

const attemptBounds = { min: 1, max: 1000 }
const delayBounds = { min: 0, max: 30 * 86_400_000, allowed: 'from 0s to 30d' }

function readRetry(value: unknown, place: Place): RetryPolicy {
  if (value === undefined) return noRetry
  if (typeof value === 'number') {
    return { ...noRetry, attempts: readWhole(value, attemptBounds, place) ?? noRetry.attempts }
  }
  const input = readOptions(value, ['attempts', 'backoff', 'delay', 'maxDelay', 'jitter', 'not'], place)
  if (input === undefined) return noRetry
  const delayMs = readDuration(input['delay'], delayBounds, within(place, 'delay')) ?? noRetry.delayMs
  const maxDelayMs = readDuration(input['maxDelay'], delayBounds, within(place, 'maxDelay'))
  if (maxDelayMs !== undefined && maxDelayMs < delayMs) {
    fault(within(place, 'maxDelay'), `${shown(input['maxDelay'])} is shorter than the delay`)
  }
  const backoff = readChoice(
    input['backoff'],
    ['constant', 'linear', 'exponential'],
    within(place, 'backoff'),
  )
  const attempts = readWhole(input['attempts'], attemptBounds, within(place, 'attempts')) ?? 3
  const not = readNot(input['not'], within(place, 'not'))
  if (not !== undefined && attempts === 1)
    fault(within(place, 'not'), 'it has no effect with attempts: 1, because nothing is retried')
  return {
    attempts,
    backoff: backoff ?? noRetry.backoff,
    delayMs,
    maxDelayMs: maxDelayMs ?? Math.max(noRetry.maxDelayMs, delayMs),
    jitter: readFraction(input['jitter'], within(place, 'jitter')) ?? noRetry.jitter,
    ...(not === undefined ? {} : { not }),
  }
}

const mostKinds = 100
const longestKind = 200

function readNot(value: unknown, place: Place): readonly (string | number)[] | undefined {
  if (value === undefined) return undefined
  if (!Array.isArray(value) || value.length === 0 || value.length > mostKinds)
    return fault(place, `${shown(value)} is not a list of errors`, `1 to ${mostKinds} of ${kindsAllowed}`)
  value.forEach((kind: unknown, index) => {
    const isText = typeof kind === 'string' && kind !== '' && kind.length <= longestKind
    if (isText || (Number.isSafeInteger(kind) && (kind as number) > 0)) return
    fault(within(place, index), `${shown(kind)} is not allowed`, kindsAllowed)
  })
  return [...new Set(value as (string | number)[])]
}

const kindsAllowed =
  'classes such as "ValidationError", codes such as "NO_SUCH_USER", exit codes or statuses such as 2 or 404'

function readFraction(value: unknown, place: Place): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && value >= 0 && value <= 1) return value
  return fault(place, `${shown(value)} is not allowed`, 'a number from 0 to 1')
}
