import { createRequire } from 'node:module'
import type { Job, ModuleSpec, ShellSpec } from '../kernel/job/job.js'
import type { Handler, ExecutableJob, RunContext } from '../engine/worker/perform.js'
import { killEarlierCommands } from './earlier-commands.js'
import { performIsolated } from '../features/isolation/run.js'
import { performHttp } from './perform-http.js'
import { stepFunctions, type StepFunction } from './pipeline/step-function.js'
import { performShell } from './perform-shell.js'
import type { Store } from '../store/port.js'
import type { Clock } from '../time/clock.js'
import { assetHandler } from '../features/assets/asset-run.js'
import { importFunction, modulePath } from './module.js'
import { takerName, toHandler } from '../engine/worker/command-run.js'
import { fallbackHandler } from '../features/command-jobs/performers.js'
import { runPipeline } from './pipeline/run-pipeline.js'
import type { Registry } from '../engine/sync/registry.js'
import { processOnThisHost } from './worker-identity.js'

/** What this process can perform: its own functions, and every command, request and pipeline that is defined in the store. */
export async function performablesOf(input: {
  registry: Registry
  store: Store
  outside: Outside
  /** The functions of pipelines, where they are not the registry's. */
  steps?: Steps | undefined
}): Promise<ReadonlyMap<string, ExecutableJob>> {
  const { registry, store, outside, steps = async () => registry.part(stepFunctions) } = input
  const executableJobs = new Map<string, ExecutableJob>()
  const shell = (spec: (run: RunContext) => ShellSpec): Handler => shellHandler(spec, { ...outside, store })
  const stored = await store.jobs()
  for (const { job, source } of stored) {
    const isFromApi = source === 'api'
    const added = isFromApi && job.handler.kind === 'function' ? registry.handlers.get(job.name) : undefined
    // A module of another app is not where this one would look for it.
    if (job.handler.kind === 'module' && !isFromApi) continue
    const handler = added ?? outsideHandler(job, { ...outside, store, steps, isFromApi })
    if (handler !== undefined) executableJobs.set(job.name, { job, handler: assetHandler(job, handler) })
  }
  for (const [name, { job, handler }] of registry.jobs) {
    const isOwn = job.handler.kind === 'module' || registry.shared.has(name)
    const own =
      handler ?? (isOwn ? outsideHandler(job, { ...outside, store, steps, isFromApi: false }) : undefined)
    if (own !== undefined) executableJobs.set(name, { job, handler: assetHandler(job, own) })
  }
  for (const one of stored) {
    const fallback = fallbackHandler(one, { executableJobs, shell })
    if (fallback !== undefined) executableJobs.set(one.job.name, { job: one.job, handler: fallback })
  }
  return executableJobs
}

/** What commands, requests and pipelines need of this process. */
export interface Outside {
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Where commands run, and where their relative directories start. */
  readonly directory: string
}

/** Gives the functions that pipelines use. */
export type Steps = () => Promise<ReadonlyMap<string, StepFunction>>

interface Surroundings extends Outside {
  readonly store: Store
  readonly steps: Steps
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
        } as const
        return await runPipeline(run, { path: spec.path, store, steps, context })
      }
  }
}

/** Loaded with the first run that needs it. */
function moduleHandler(job: string, spec: ModuleSpec, outside: Outside & { store: Store }): Handler {
  const { directory, clock, environment } = outside
  const { isolate } = spec
  const takesCommands = job === takerName
  if (isolate === undefined)
    return async (run) => await toHandler(await importFunction(spec, directory), { takesCommands })(run)
  const found = { ...spec, isolate, takesCommands, module: modulePath(spec.module, directory) }
  return async (run) => {
    await endEarlierAttempts(run, outside)
    const context = { ...contextOf(run), clock, environment, directory, entry: isolateEntry() }
    return await performIsolated(found, context)
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

/** Ends what a worker of this host still performs of this run although its lease is over: one that was stopped or hangs. */
async function endEarlierAttempts(
  run: RunContext,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
): Promise<void> {
  if (run.attempt === 1) return
  // A store that cannot be asked now is no reason to fail the run.
  const attempts = await store.attempts(run.id).catch(() => [])
  const workers = attempts.flatMap(({ attempt, end, worker = '' }) =>
    // After an end of its own kind nothing was left: the tree of a command ends before its attempt does.
    attempt < run.attempt && (end === undefined || end === 'lost' || end === 'released')
      ? (processOnThisHost(worker) ?? [])
      : [],
  )
  if (workers.length > 0) await killEarlierCommands(new Set(workers), { ...contextOf(run), clock })
}

/** The compiled beginning of a thread or process, wherever this file itself was loaded from. */
function isolateEntry(): string {
  return createRequire(import.meta.url).resolve('#isolate-entry')
}

function contextOf(run: RunContext) {
  const { id, job, trigger, attempt, partition, payload, signal } = run
  return {
    run: { id, job, trigger, attempt, dueAt: run.dueAt.getTime(), partition, payload },
    signal,
    log: (level: Parameters<RunContext['log']>[1], text: string) => run.log(text, level),
  }
}
