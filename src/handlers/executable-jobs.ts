import type { Json } from '../kernel/definition/json.js'
import { RotaError } from '../kernel/definition/errors.js'
import type { Isolation, Job, ModuleSpec, ShellSpec } from '../kernel/job/job.js'
import type { Handler, ExecutableJob, RunContext } from '../engine/worker/perform.js'
import { killEarlierCommands } from './earlier-commands.js'
import type { HandlerContext } from './handler-context.js'
import { performHttp } from './perform-http.js'
import { stepFunctions, type StepFunction } from './pipeline/step-function.js'
import { performShell } from './perform-shell.js'
import type { Store, StoredJob } from '../store/port.js'
import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import { importFunction, modulePath } from './module.js'
import { takerName, toHandler } from '../engine/worker/command-run.js'
import { runPipeline } from './pipeline/run-pipeline.js'
import type { Registry } from '../engine/sync/registry.js'
import { processOnThisHost } from './worker-identity.js'

/** The parts of a process that executes jobs. */
export interface ExecutableInput {
  readonly store: Store
  readonly outside: Outside
  /** The definitions of this process; absent: it has no jobs of its own. */
  readonly registry?: Registry | undefined
  /** The functions of pipelines; default: those of the registry. */
  readonly steps?: Steps | undefined
  readonly extensions: readonly HandlerExtension[]
}

/** The extension of job handlers by a feature. */
export interface HandlerExtension {
  /** Executes a module's function in its own thread or process. */
  readonly isolated?: (spec: IsolatedSpec, context: IsolatedContext) => Promise<Json | undefined>
  /** Wraps the handler of a job with what such a job needs. */
  readonly wrap?: (job: Job, handler: Handler) => Handler
  /** The handler of a stored job that has none of its own. */
  readonly fallback?: (stored: StoredJob, here: FallbackInput) => Handler | undefined
  /** Additional jobs of a process that performs one run; `release` releases its run. */
  readonly onePass?: (
    store: Store,
    pass: { readonly now: Instant; readonly release: () => void },
  ) => Promise<readonly ExecutableJob[]>
}

/** A module's function that runs in its own thread or process. */
export type IsolatedSpec = ModuleSpec & { readonly isolate: Isolation; readonly takesCommands: boolean }

/** The context of an isolated function. */
export type IsolatedContext = HandlerContext & Outside

/** The extension that executes isolated functions; throws if there is none. */
export function isolatedBy(
  extensions: readonly HandlerExtension[],
): NonNullable<HandlerExtension['isolated']> {
  const [isolated] = extensions.flatMap((one) => one.isolated ?? [])
  if (isolated === undefined) throw new RotaError('HANDLER_MISSING', 'nothing here isolates handlers')
  return isolated
}

/** The input of a fallback. */
export interface FallbackInput {
  readonly executableJobs: ReadonlyMap<string, ExecutableJob>
  /** A handler that executes a command. */
  readonly shell: (spec: (run: RunContext) => ShellSpec) => Handler
  /** Where secrets are read from. */
  readonly outside: Outside
}

/** The jobs that this process can execute: its own functions, and every command, request and pipeline in the store. */
export async function executableJobsOf(input: ExecutableInput): Promise<ReadonlyMap<string, ExecutableJob>> {
  const { registry, store, outside, extensions } = input
  const steps = input.steps ?? (async () => registry?.part(stepFunctions) ?? new Map())
  const around = { ...outside, store, steps, extensions }
  const executableJobs = new Map<string, ExecutableJob>()
  const add = (job: Job, handler: Handler | undefined): void => {
    if (handler === undefined) return
    const wrapped = extensions.reduce((inner, { wrap }) => wrap?.(job, inner) ?? inner, handler)
    executableJobs.set(job.name, { job, handler: wrapped })
  }
  const stored = await store.jobs()
  for (const { job, source } of stored) {
    const isFromApi = source === 'api'
    const added = isFromApi && job.handler.kind === 'function' ? registry?.handlers.get(job.name) : undefined
    // The module path of another app is relative to another directory.
    if (job.handler.kind === 'module' && !isFromApi) continue
    add(job, added ?? outsideHandler(job, { ...around, isFromApi }))
  }
  for (const [name, { job, handler }] of registry?.jobs ?? []) {
    const isOwn = job.handler.kind === 'module' || registry?.shared.has(name) === true
    add(job, handler ?? (isOwn ? outsideHandler(job, { ...around, isFromApi: false }) : undefined))
  }
  const shell = (spec: (run: RunContext) => ShellSpec): Handler => shellHandler(spec, around)
  const here = { executableJobs, shell, outside }
  for (const one of stored) {
    for (const { fallback } of extensions) {
      const handler = fallback?.(one, here)
      if (handler !== undefined) executableJobs.set(one.job.name, { job: one.job, handler })
    }
  }
  return executableJobs
}

/** The jobs that a process that performs one run can execute. */
export async function onePassJobs(
  input: ExecutableInput,
  pass: { readonly now: Instant; readonly release: () => void },
): Promise<ReadonlyMap<string, ExecutableJob>> {
  const executableJobs = new Map(await executableJobsOf(input))
  for (const { onePass } of input.extensions) {
    for (const one of (await onePass?.(input.store, pass)) ?? []) executableJobs.set(one.job.name, one)
  }
  return executableJobs
}

/** The environment of commands, requests and pipelines. */
export interface Outside {
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Where commands run, and where their relative directories start. */
  readonly directory: string
}

/** Returns the functions that pipelines use. */
export type Steps = () => Promise<ReadonlyMap<string, StepFunction>>

interface Surroundings extends Outside {
  readonly store: Store
  readonly steps: Steps
  readonly extensions: readonly HandlerExtension[]
  readonly isFromApi: boolean
}

function outsideHandler(job: Job, outside: Surroundings): Handler | undefined {
  const spec = job.handler
  const { clock, environment, directory, store, steps } = outside
  const privateTargets = outside.isFromApi ? 'refuse' : 'allow'
  switch (spec.kind) {
    case 'function':
      return undefined
    case 'module':
      return moduleHandler(job.name, spec, outside)
    case 'shell':
      return shellHandler(() => spec, outside)
    case 'http':
      return (run) => performHttp(spec, { ...contextOf(run), environment, directory, privateTargets })
    case 'pipeline':
      return async (run) => {
        await endEarlierAttempts(run, outside)
        const context = {
          ...contextOf(run),
          clock,
          environment,
          directory,
          privateTargets,
          env: spec.env,
        } as const
        return await runPipeline(run, { path: spec.path, store, steps, context })
      }
  }
}

/** The module is loaded with the first run that needs it. */
function moduleHandler(job: string, spec: ModuleSpec, around: Surroundings): Handler {
  const { directory, clock, environment } = around
  const { isolate } = spec
  const takesCommands = job === takerName
  if (isolate === undefined)
    return async (run) => await toHandler(await importFunction(spec, directory), { takesCommands })(run)
  const found = { ...spec, isolate, takesCommands, module: modulePath(spec.module, directory) }
  return async (run) => {
    const isolated = isolatedBy(around.extensions)
    await endEarlierAttempts(run, around)
    return await isolated(found, { ...contextOf(run), clock, environment, directory })
  }
}

function shellHandler(
  spec: (run: RunContext) => ShellSpec,
  outside: Outside & { readonly store: Store },
): Handler {
  const { clock, environment, directory } = outside
  return async (run) => {
    await endEarlierAttempts(run, outside)
    return await performShell(spec(run), { ...contextOf(run), clock, environment, directory })
  }
}

/** Kills earlier attempts of this run on this host whose workers lost their leases: they were suspended or hang. */
async function endEarlierAttempts(
  run: RunContext,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
): Promise<void> {
  if (run.attempt === 1) return
  // An unreachable store is no reason to fail the run.
  const attempts = await store.attempts(run.id).catch(() => [])
  const workers = attempts.flatMap(({ attempt, end, worker = '' }) =>
    // Other ends leave no process: the process tree of a command ends before its attempt.
    attempt < run.attempt && (end === undefined || end === 'lost' || end === 'released')
      ? (processOnThisHost(worker) ?? [])
      : [],
  )
  if (workers.length > 0) await killEarlierCommands(new Set(workers), { ...contextOf(run), clock })
}

function contextOf(run: RunContext) {
  const { id, job, trigger, attempt, isLastAttempt, partition, payload, signal } = run
  return {
    run: { id, job, trigger, attempt, isLastAttempt, dueAt: run.dueAt.getTime(), partition, payload },
    signal,
    log: (level: Parameters<RunContext['log']>[1], text: string) => run.log(text, level),
  }
}
