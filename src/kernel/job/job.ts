import type { AlertsOption } from '../alert/alerts-option.js'
import type { AssetSpec } from '../partition/asset-spec.js'
import type { Json } from '../definition/json.js'
import type { SecretText } from '../definition/secret-text.js'
import type { RateLimit } from './rate-limit.js'
import type { JobRetention } from './retention.js'
import type { Sla } from '../sla/sla.js'
import { noRetry, type RetryPolicy } from './retry.js'

/** The action of a job: a function of the process that defined it, a function of a module, a command, a request, or a pipeline file. */
export type HandlerSpec = { readonly kind: 'function' } | ModuleSpec | ShellSpec | HttpSpec | PipelineSpec

/** A function that a module exports, so that another thread or process can load it. */
export interface ModuleSpec {
  readonly kind: 'module'
  /** A path, relative to the directory of the app. */
  readonly module: string
  readonly export: string
  /** What each attempt runs in; default: the main thread of the worker. */
  readonly isolate?: Isolation | undefined
}

/** A thread or process per attempt, and its memory limit. */
export interface Isolation {
  readonly kind: 'thread' | 'process'
  readonly memoryMb: number
}

/** A command run without a shell: its arguments, its extra environment and its directory. */
export interface ShellSpec {
  readonly kind: 'shell'
  readonly argv: readonly string[]
  readonly env?: Readonly<Record<string, SecretText>> | undefined
  readonly cwd?: string | undefined
}

/** A request whose answer must have a status below 400. */
export interface HttpSpec {
  readonly kind: 'http'
  readonly url: string
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, SecretText>> | undefined
  /** Sent as JSON; default: the payload of the run, if the method has a body. */
  readonly body?: Json | undefined
}

/** A pipeline file, read when a run starts; relative to the directory of the app. */
export interface PipelineSpec {
  readonly kind: 'pipeline'
  /** Absent if each run names its own. */
  readonly path?: string | undefined
  /** Variables for the commands of its steps. */
  readonly env?: Readonly<Record<string, SecretText>> | undefined
}

/** The named *what*: a handler with its queue, retry, timeout and concurrency. */
export interface Job {
  readonly name: string
  readonly handler: HandlerSpec
  readonly queue: string
  /** Higher goes first. */
  readonly priority: number
  readonly retry: RetryPolicy
  readonly timeoutMs: number | undefined
  /** How many runs of this job may run concurrently, over all workers. */
  readonly concurrency: number | undefined
  /** How many runs with one `concurrencyKey` may run concurrently, over all workers. */
  readonly concurrencyPerKey: number
  /** How many attempts may start in a period, over all workers. */
  readonly limit?: RateLimit | undefined
  /** The same for each `concurrencyKey`. */
  readonly limitPerKey?: RateLimit | undefined
  /** How many workers a run may crash before it is quarantined. */
  readonly maxCrashes: number
  /** The channels to which its problems are reported; absent: the rules of the app decide. */
  readonly alerts?: AlertsOption | undefined
  /** The job that gets each run that failed for good. */
  readonly deadLetter?: string | undefined
  /** How long its final runs are kept; absent: the retention of the app. */
  readonly retention?: JobRetention | undefined
  /** What is promised about its runs, its last success and its partitions. */
  readonly sla?: Sla | undefined
  /** The asset part of its definition, if it is an asset. */
  readonly asset?: AssetSpec | undefined
  /** Its source has removed it: it stays for its runs, and any source may define the name again. */
  readonly ended?: true | undefined
}

/** The defaults of a job. */
export const jobDefaults: Omit<Job, 'name'> = {
  handler: { kind: 'function' },
  queue: 'default',
  priority: 0,
  retry: noRetry,
  timeoutMs: undefined,
  concurrency: undefined,
  concurrencyPerKey: 1,
  maxCrashes: 3,
}

/** A queue: its name, and how many of its runs may run concurrently and start in a period, over all workers. */
export interface Queue {
  readonly name: string
  readonly concurrency: number | undefined
  readonly limit?: RateLimit | undefined
}
