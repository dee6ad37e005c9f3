import type { AssetSpec } from '../partition/asset-spec.js'
import type { Json } from '../definition/json.js'
import type { SecretText } from '../definition/secret-text.js'
import { noRetry, type RetryPolicy } from './retry.js'

/** What a job does: a function of the process that defined it, one of a module, a command, a request, or the steps of a pipeline file. */
export type HandlerSpec = { readonly kind: 'function' } | ModuleSpec | ShellSpec | HttpSpec | PipelineSpec

/** A function that a module exports, so that another thread or process can find it too. */
export interface ModuleSpec {
  readonly kind: 'module'
  /** A path; a relative one starts at the app's directory. */
  readonly module: string
  readonly export: string
  /** What each attempt gets for itself; it shares the worker's process and thread where this is absent. */
  readonly isolate?: Isolation | undefined
}

/** What an attempt has for itself, and how much memory its objects may take there. */
export interface Isolation {
  readonly kind: 'thread' | 'process'
  readonly memoryMb: number
}

/** A command run without a shell: its words, its extra environment and its directory. */
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
  /** Sent as JSON; the run's payload when absent and the method has a body. */
  readonly body?: Json | undefined
}

/** A pipeline file, read anew when a run starts; a relative path starts at the app's directory. */
export interface PipelineSpec {
  readonly kind: 'pipeline'
  /** Absent where each run names its own. */
  readonly path?: string | undefined
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
  /** How many runs of this job may be held at once, over all workers. */
  readonly concurrency: number | undefined
  /** How many runs with one `concurrencyKey` may be held at once, over all workers. */
  readonly concurrencyPerKey: number
  /** How many workers it may take down before it is quarantined. */
  readonly maxCrashes: number
  /** What makes it an asset, where it is one. */
  readonly asset?: AssetSpec | undefined
  /** Its source no longer defines it: it stays for the runs that it still has, and any source may take its name. */
  readonly ended?: true | undefined
}

/** What a job is where its definition says nothing. */
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

/** The name under which runs wait, with how many may be held at once over all workers. */
export interface Queue {
  readonly name: string
  readonly concurrency: number | undefined
}
