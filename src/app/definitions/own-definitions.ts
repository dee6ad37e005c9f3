import { commonBlackouts, namedCalendars, withBlackouts } from '../../engine/sync/calendars.js'
import { definitionFiles, type FileDefinitions } from '../../engine/sync/definition-files.js'
import type { Source, SyncReport } from '../../engine/sync/sync.js'
import { refuse } from '../../kernel/definition/errors.js'
import type { Key } from '../../kernel/definition/faults.js'
import { fingerprintOf } from '../../kernel/identity/identity.js'
import type { Job } from '../../kernel/job/job.js'
import type { Roles } from '../../engine/role.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { stepFunctions } from '../../handlers/pipeline/step-function.js'
import type { Registry } from '../../engine/sync/registry.js'
import { loadFileReaders, loadTriggerKinds } from '../features.js'

/** Returns where the part of a config at this path was written. */
export type Where = (keys: readonly Key[]) => string

/** The definitions of an app. The code that writes them is loaded on demand: most commands only read. */
export class OwnDefinitions {
  readonly #source: string
  readonly #registry: Registry
  /** Where a part of the config was written, if there is a config. */
  #where: Where | undefined
  /** How many jobs of the registry the store has; jobs are only ever added. */
  #writtenJobs = -1
  #writing: Promise<void> | undefined

  constructor(source: string, registry: Registry, where?: Where) {
    this.#source = source
    this.#registry = registry
    this.#where = where
  }

  /** Their source in the store. */
  get source(): string {
    return this.#source
  }

  /** A digest of the names of triggers and plans, if any: processes with the same digest do not end each other's. */
  get digest(): string {
    const { triggers } = this.#registry
    const files = this.#registry.part(definitionFiles)
    if (triggers.size + files.length === 0) return ''
    return fingerprintOf(JSON.stringify([[...triggers.keys()].toSorted(), files.toSorted()]))
  }

  /** Replaces its definitions by others that are already in the store. */
  replaceBy(other: OwnDefinitions): void {
    this.#registry.replaceBy(other.#registry)
    this.#where = other.#where
    this.#writtenJobs = this.#registry.jobs.size
  }

  /** All definitions, and where they were written. */
  all(): { readonly source: Source; readonly where: Where | undefined } {
    return { source: this.#all(), where: this.#where }
  }

  /** Whether the store has every job, so that the hot path does not wait for a promise. */
  get areJobsWritten(): boolean {
    return this.#writtenJobs === this.#registry.jobs.size
  }

  /** Writes the definitions that a process with these roles needs; nothing if a plan or a pipeline has a fault. */
  async write(
    store: Store,
    context: {
      readonly directory: string
      readonly roles: Roles
      readonly now: Instant
      /** Called with the names that would end, before anything is written; it may throw. */
      readonly beforeEnding: (names: readonly string[]) => Promise<void>
    },
  ): Promise<SyncReport | undefined> {
    const { roles, now, beforeEnding } = context
    const files = await this.#readFiles(context)
    const report = roles.scheduler ? await this.#sync(store, files, { now, beforeEnding }) : undefined
    if (!roles.scheduler) await this.writeJobs(store, now)
    // Other programs may add runs to such a store; these name their pipelines and belong to no plan.
    if (roles.worker && store.url.startsWith('files:')) {
      const { definePipelineJob } = await import('../../engine/sync/pipeline-job.js')
      await definePipelineJob(store, now)
    }
    return report
  }

  /** Writes the jobs once; concurrent calls wait for the same write, and fail with it. */
  async writeJobs(store: Store, now: Instant): Promise<void> {
    this.#writing ??= this.#writeJobs(store, now)
    try {
      await this.#writing
    } finally {
      this.#writing = undefined
    }
  }

  /** Reads all files first, so that nothing is written if one of them has a fault. */
  async #readFiles(context: {
    readonly directory: string
    readonly roles: Roles
    readonly now: Instant
  }): Promise<readonly FileDefinitions[]> {
    const { checkModules } = await import('../../handlers/module.js')
    const { checkPipelines } = await import('../../handlers/pipeline/check-pipelines.js')
    const { directory, roles, now } = context
    const jobs = this.#jobs()
    if (roles.worker) checkModules(jobs, directory)
    const paths = roles.scheduler ? this.#registry.part(definitionFiles) : []
    const app = { paths, source: this.#source, directory, jobs, now }
    const files = await Promise.all((await loadFileReaders()).map((read) => read(app)))
    const named = jobs.flatMap(({ handler }) => (handler.kind === 'pipeline' ? (handler.path ?? []) : []))
    const functions = roles.worker ? this.#registry.part(stepFunctions) : undefined
    await checkPipelines([...named, ...files.flatMap(({ pipelines }) => pipelines)], { directory, functions })
    return files
  }

  async #sync(
    store: Store,
    files: readonly FileDefinitions[],
    {
      now,
      beforeEnding,
    }: { readonly now: Instant; readonly beforeEnding: (names: readonly string[]) => Promise<void> },
  ): Promise<SyncReport> {
    const { endJobs, sync } = await import('../../engine/sync/sync.js')
    const { pastSchedules } = await import('../../engine/sync/past-schedules.js')
    const { checkPayloads } = await import('./check-payloads.js')
    const kinds = await loadTriggerKinds()
    await checkPayloads(this.#registry)
    // Without earlier jobs of this source: its triggers cannot use a job that it no longer defines.
    const others = (await store.jobs()).filter(({ source }) => source !== this.#source)
    this.#registry.check(new Map(others.map(({ job }) => [job.name, job])), { kinds, whereOf: this.#where })
    const sectionOf = (name: string): string => this.#registry.sectionOf(name)
    const past = await pastSchedules(store, this.#all().triggers, now, sectionOf)
    refuse(
      'the app',
      past.map((fault) => ({ ...fault, where: this.#where?.(fault.keys) })),
    )
    const vanished = (await Promise.all(files.map((one) => one.vanished(store)))).flat()
    if (vanished.length > 0) await beforeEnding(vanished)
    const own = await sync(store, { ...this.#all(), beforeEnding }, { kinds, now }).catch(
      async (error: unknown) => {
        throw await this.#explained(error, store)
      },
    )
    this.#registry.shared = new Set(own.shared)
    this.#writtenJobs = this.#registry.jobs.size
    await endJobs(store, this.#all(), now)
    const calendars = this.#registry.part(namedCalendars)
    await (await import('../../engine/sync/calendars.js')).syncCalendars(store, {
      source: this.#source,
      calendars,
      blackouts: this.#registry.part(commonBlackouts),
      now,
    })
    const reports = [own]
    for (const one of files) reports.push(...(await one.sync(store, now)))
    return {
      defined: reports.flatMap((report) => report.defined),
      changed: reports.flatMap((report) => report.changed),
      ended: reports.flatMap((report) => report.ended),
      unchanged: reports.reduce((sum, report) => sum + report.unchanged, 0),
    }
  }

  async #writeJobs(store: Store, now: Instant): Promise<void> {
    const all = this.#all()
    try {
      if (all.jobs.length > 0) {
        const { defineJobs } = await import('../../engine/sync/sync.js')
        const { auditedSync, changedJobs } = await import('../../engine/sync/audit-sync.js')
        const jobs = await changedJobs(store, all.jobs)
        const source = this.#source
        const audited = auditedSync(store, { source, jobs, triggers: [], vanished: [], now })
        const kinds = await loadTriggerKinds()
        this.#registry.shared = await defineJobs(audited, { ...all, kinds }, now)
      }
    } catch (error) {
      throw await this.#explained(error, store)
    }
    this.#writtenJobs = all.jobs.length
  }

  async #explained(error: unknown, store: Store): Promise<unknown> {
    const { withRenameHint } = await import('../process/rename-hint.js')
    const { name: source, jobs, triggers } = this.#all()
    const names = [...new Set([...jobs, ...triggers].map(({ name }) => name))]
    return await withRenameHint(error, { store, source, names })
  }

  #all(): Source {
    const common = this.#registry.part(commonBlackouts)
    return {
      name: this.#source,
      jobs: this.#jobs(),
      queues: [...this.#registry.queues.values()],
      triggers: [...this.#registry.triggers.values()].map((one) => withBlackouts(one, common)),
    }
  }

  #jobs(): Job[] {
    return [...this.#registry.jobs.values()].map(({ job }) => job)
  }
}
