import { createRequire } from 'node:module'
import type { Job, ModuleSpec } from '../model/job.js'
import type { Handler, Performable, RunContext } from '../engine/perform.js'
import { performIsolated } from '../handlers/isolate.js'
import { performHttp } from '../handlers/perform-http.js'
import type { StepFunction } from '../handlers/step-function.js'
import { performShell, type ShellContext } from '../handlers/perform-shell.js'
import type { Store } from '../store/store.js'
import type { Clock } from '../time/clock.js'
import { assetHandler } from './assets/asset-run.js'
import { importHandler, modulePath } from './isolate/isolate-module.js'
import { takerName } from './jobs/command-run.js'
import { fallbackHandler } from './jobs/performers.js'
import { runPipeline } from './pipelines.js'
import type { Registry } from './registry.js'

/** What this process can perform: its own functions, and every command, request and pipeline that is defined in the store. */
export async function performablesOf(input: {
  registry: Registry
  store: Store
  outside: Outside
  /** The functions of pipelines, where they are not the registry's. */
  steps?: Steps | undefined
}): Promise<ReadonlyMap<string, Performable>> {
  const { registry, store, outside, steps = async () => registry.steps } = input
  const performables = new Map<string, Performable>()
  const shell = (run: RunContext): ShellContext => ({ ...contextOf(run), ...outside })
  const stored = await store.jobs()
  for (const { job, source } of stored) {
    const isFromApi = source === 'api'
    const added = isFromApi && job.handler.kind === 'function' ? registry.handlers.get(job.name) : undefined
    // A module of another app is not where this one would look for it.
    if (job.handler.kind === 'module' && !isFromApi) continue
    const handler = added ?? outsideHandler(job, { ...outside, store, steps, isFromApi })
    if (handler !== undefined) performables.set(job.name, { job, handler: assetHandler(job, handler) })
  }
  for (const [name, { job, handler }] of registry.jobs) {
    const isOwn = job.handler.kind === 'module' || registry.shared.has(name)
    const own =
      handler ?? (isOwn ? outsideHandler(job, { ...outside, store, steps, isFromApi: false }) : undefined)
    if (own !== undefined) performables.set(name, { job, handler: assetHandler(job, own) })
  }
  for (const one of stored) {
    const fallback = fallbackHandler(one, { performables, shell })
    if (fallback !== undefined) performables.set(one.job.name, { job: one.job, handler: fallback })
  }
  return performables
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
      return (run) => performShell(spec, { ...contextOf(run), clock, environment, directory })
    case 'http':
      return (run) => performHttp(spec, { ...contextOf(run), environment, directory, privateTargets })
    case 'pipeline':
      return (run) => {
        const context = {
          ...contextOf(run),
          clock,
          environment,
          directory,
          privateTargets,
        } as const
        return runPipeline(run, { path: spec.path, store, steps, context })
      }
  }
}

/** Loaded with the first run that needs it. */
function moduleHandler(job: string, spec: ModuleSpec, outside: Outside): Handler {
  const { directory, clock, environment } = outside
  const { isolate } = spec
  const takesCommands = job === takerName
  if (isolate === undefined)
    return async (run) => await (await importHandler({ ...spec, takesCommands }, directory))(run)
  const found = { ...spec, isolate, takesCommands, module: modulePath(spec.module, directory) }
  return (run) =>
    performIsolated(found, { ...contextOf(run), clock, environment, directory, entry: isolateEntry() })
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
