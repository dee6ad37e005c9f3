import { definitionFiles } from '../../engine/sync/definition-files.js'
import { pastSchedules } from '../../engine/sync/past-schedules.js'
import type { Registry } from '../../engine/sync/registry.js'
import type { Source } from '../../engine/sync/sync.js'
import type { TriggerKinds } from '../../engine/trigger-kind.js'
import { checkModules } from '../../handlers/module.js'
import { checkPipelines } from '../../handlers/pipeline/check-pipelines.js'
import { stepFunctions } from '../../handlers/pipeline/step-function.js'
import { RotaError, type ErrorCode, type Fault } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { loadFileReaders } from '../features.js'
import { checkPayloads } from './check-payloads.js'
import type { Where } from './own-definitions.js'

/** A fault for which an app would refuse to start. */
export interface DefinitionFault extends Fault {
  readonly code: ErrorCode
  /** Where it was written, such as `rota.config.yaml:12:5`, if known. */
  readonly where?: string | undefined
}

/** The definitions to check, with their context. */
export interface CheckedDefinitions {
  readonly source: Source
  readonly registry: Registry
  readonly kinds: TriggerKinds
  readonly directory: string
  readonly where: Where | undefined
  readonly now: Instant
}

/** All faults for which a start would be refused. A start stops at the first failing step; this performs all steps. */
export async function faultsOf(store: Store, given: CheckedDefinitions): Promise<readonly DefinitionFault[]> {
  const found: DefinitionFault[] = []
  for (const step of stepsOf(store, given)) {
    try {
      await step()
    } catch (error) {
      if (!(error instanceof RotaError)) throw error
      found.push(...faultsIn(error))
    }
  }
  return found
}

function stepsOf(store: Store, given: CheckedDefinitions): readonly (() => Promise<void> | void)[] {
  const { source, registry, kinds, directory, where, now } = given
  const { name, jobs, triggers } = source
  const functions = registry.part(stepFunctions)
  const files = { paths: registry.part(definitionFiles), source: name, directory, jobs, now }
  const pipelines = jobs.flatMap(({ handler }) => (handler.kind === 'pipeline' ? (handler.path ?? []) : []))
  return [
    () => checkModules(jobs, directory),
    () => checkPipelines(pipelines, { directory, functions }),
    async () => {
      const read = await Promise.all((await loadFileReaders()).map((one) => one(files)))
      await checkPipelines(
        read.flatMap((one) => one.pipelines),
        { directory, functions },
      )
    },
    () => checkPayloads(registry),
    async () => {
      const others = (await store.jobs()).filter((one) => one.source !== name)
      registry.check(new Map(others.map(({ job }) => [job.name, job])), { kinds, whereOf: where })
    },
    async () => {
      const faults = await pastSchedules(store, triggers, now, (one) => registry.sectionOf(one))
      if (faults.length > 0)
        throw new RotaError('DEFINITION_INVALID', 'schedules are over', {
          faults: faults.map((fault) => ({ ...fault, where: where?.(fault.keys) })),
        })
    },
    () => refuseTaken(store, given),
    async () => {
      for (const kind of kinds.values()) await kind.check?.(store, triggers, (one) => one.source === name)
    },
  ]
}

/** Throws for names that other sources own. */
async function refuseTaken(store: Store, { source, registry, where }: CheckedDefinitions): Promise<void> {
  const { name, jobs, triggers } = source
  const stored = (await store.triggers({ names: triggers.map((one) => one.name), active: true })).filter(
    (one) => one.source !== name,
  )
  const names = new Set(jobs.map((job) => job.name))
  const taken = (await store.jobs()).filter(
    (one) => one.source !== name && one.job.ended !== true && names.has(one.job.name),
  )
  const services = new Set(triggers.flatMap(({ round }) => round?.services.map(({ job }) => job) ?? []))
  const faults = [
    ...stored.map((one) => ({
      keys: [registry.sectionOf(one.trigger.name), one.trigger.name],
      source: one.source,
    })),
    // Two programs may share the services of a round.
    ...taken
      .filter(({ job }) => !services.has(job.name))
      .map((one) => ({ keys: ['jobs', one.job.name], source: one.source })),
  ].map(({ keys, source: owner }) => ({
    path: keys.join('.'),
    message: `${owner} already defines it`,
    allowed: 'another name',
    where: where?.(keys),
  }))
  if (faults.length > 0) throw new RotaError('DEFINITION_CONFLICT', 'names are taken', { faults })
}

/** The faults that an error lists, or the error itself if it lists none. */
export function faultsIn(error: RotaError): readonly DefinitionFault[] {
  const { code, faults, message } = error
  if (faults.length === 0) return [{ code, path: '', message }]
  return faults.map((fault) => ({ ...fault, code }))
}
