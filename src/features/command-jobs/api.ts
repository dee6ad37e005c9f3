import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { AskedAudit } from '../../engine/audit-change.js'
import { emitFailure, someIds } from '../../engine/operations.js'
import { takerName, takingCommands, type CommandHandler } from '../../engine/worker/command-run.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { ModuleInput } from '../../kernel/job/define-handler.js'
import { defineJob, functionOf, type JobInput, type JobOptions } from '../../kernel/job/define-job.js'
import type { JobRef } from '../../kernel/job/job-ref.js'
import type { Enqueued, Store } from '../../store/port.js'
import type { AppContext, StartingApp } from '../app-context.js'
import type { AddJob, CommandJobs, JobsPage, PageRequest } from './command-jobs.js'
import type { ImportedLine, ImportOptions } from './transfer/import.js'
import type { JobsKeeper } from './keeper.js'
import type { CommandJobInfo } from './state.js'

/** The problems of a jobs file. */
export interface JobsFileCheck {
  readonly error: RotaError | undefined
  readonly warnings: readonly string[]
}

/** `app.commands`: command jobs, which are added and removed while everything runs. */
export class Commands {
  readonly #context: AppContext
  /** The jobs file that is used in place, as an absolute path. */
  #file: string | undefined
  #keeper: JobsKeeper | undefined
  #endUnclaimed: (() => Promise<void>) | undefined

  constructor(context: AppContext) {
    this.#context = context
    context.join({
      prepare: (app) => this.#prepare(app),
      start: (app) => this.#start(app),
      close: async () => void (await Promise.all([this.#keeper?.stop(), this.#endUnclaimed?.()])),
    })
  }

  /** Handles every command that no job is named after. A handler from a module can be isolated. */
  handle(
    handler: CommandHandler | ModuleInput,
    options: JobOptions & Pick<JobInput, 'isolate' | 'memoryMb'> = {},
  ): JobRef {
    const { assertNotStarted, definitions } = this.#context
    assertNotStarted('a command handler')
    const input = { ...options, handler: typeof handler === 'function' ? takingCommands(handler) : handler }
    definitions.addJob(defineJob(takerName, input), functionOf(input))
    return { name: takerName }
  }

  /** Uses a jobs file in place: its lines are jobs, new jobs become lines, and executed jobs are marked there. */
  useFile(path: string): void {
    this.#context.assertNotStarted('a jobs file')
    this.#file = resolve(this.#context.directory, path)
  }

  /** Checks, stores and schedules a command job; an id that is taken is a conflict that changes nothing. */
  async add(job: AddJob, options: ChangeOptions = {}): Promise<CommandJobInfo> {
    // The id is made here, so that the audit can name it.
    const given = withId(job)
    const { dryRun } = options
    const asked = {
      operation: 'add job',
      target: (given as AddJob | null)?.id ?? 'a new job',
      outcome: () => 'added',
      details: ({ id }: CommandJobInfo) => ({ job: id }),
      options,
      audit: auditOf('command.add', String((given as AddJob | null)?.id)),
      needsJobs: true,
    }
    return await this.#context.change(asked, async (store, now) =>
      (await this.#jobs(store)).add(given, { now, dryRun }),
    )
  }

  /** Removes a command job: a run in progress may finish, pending runs are cancelled. */
  async remove(id: string, options: ChangeOptions = {}): Promise<CommandJobInfo> {
    const { dryRun } = options
    const audit = auditOf('command.remove', id)
    const asked = { operation: 'remove job', target: id, outcome: () => 'removed', options, audit }
    return await this.#context.change(asked, async (store, now) =>
      (await this.#jobs(store)).remove(id, { now, dryRun }),
    )
  }

  /** One command job, also one that was removed. */
  async get(id: string): Promise<CommandJobInfo> {
    return await (await this.#jobs()).get(id)
  }

  /** All command jobs that are not removed, by id. */
  async list(): Promise<readonly CommandJobInfo[]> {
    return await (await this.#jobs()).list()
  }

  /** One page of the command jobs in the store, by id; `list` also has those of the file that were not read yet. */
  async page(request: PageRequest): Promise<JobsPage> {
    return await (await this.#jobs()).page(request)
  }

  /** Checks the jobs file, if one is used: `error` if it cannot be read or has faulty lines, `warnings` if others may write it. */
  async checkFile(): Promise<JobsFileCheck> {
    const jobs = await this.#jobs()
    return { error: await jobs.fileTrouble(), warnings: jobs.fileWarnings() }
  }

  /** Runs a command job now; its schedule does not change. */
  async runNow(id: string, options: ChangeOptions = {}): Promise<Enqueued> {
    const { events, runNow } = this.#context
    try {
      await this.#assertActive(id)
    } catch (error) {
      if (options.dryRun !== true) emitFailure(events, { operation: 'run', target: id }, error)
      throw error
    }
    return await runNow(id, options)
  }

  /** Removes executed one-shots, which also happens once a day; returns their ids. */
  async cleanup(options: ChangeOptions = {}): Promise<readonly string[]> {
    const isDry = options.dryRun ?? false
    const asked = {
      operation: 'clean up jobs',
      target: 'executed one-shots',
      outcome: () => (isDry ? 'nothing was changed' : 'removed'),
      details: (ids: readonly string[]) => ({ count: ids.length, jobs: someIds(ids) }),
      options,
      audit: { action: 'command.cleanup', target: 'store', subjects: [] },
    }
    return await this.#context.change(asked, async (store, now) =>
      (await this.#jobs(store)).cleanup({ isDry, now }),
    )
  }

  /** Adds the jobs of a file and returns the result for each line; faulty lines are skipped. */
  async import(path: string, options: ImportOptions & ChangeOptions = {}): Promise<readonly ImportedLine[]> {
    return await this.#import({ path: resolve(this.#context.directory, path) }, path, options)
  }

  /** Adds the jobs of a text with one JSON map per line, like `import` does with a file. */
  async importText(
    text: string,
    options: ImportOptions & ChangeOptions = {},
  ): Promise<readonly ImportedLine[]> {
    return await this.#import({ path: 'the text', bytes: Buffer.from(text) }, 'a text', options)
  }

  /** All command jobs as the lines of a file. */
  async export(): Promise<string> {
    const { exportJobs } = await import('./transfer/import.js')
    return await exportJobs(await this.#jobs())
  }

  async #import(
    lines: { readonly path: string; readonly bytes?: Buffer },
    target: string,
    options: ImportOptions & ChangeOptions,
  ): Promise<readonly ImportedLine[]> {
    const { importJobs } = await import('./transfer/import.js')
    const asked = {
      operation: 'import jobs',
      target,
      outcome: () => (options.dryRun === true ? 'nothing was changed' : 'imported'),
      details: countsOf,
      options,
      audit: { action: 'command.import', target: 'store', subjects: [], after: { from: target } },
      needsJobs: true,
    }
    return await this.#context.change(asked, async (store, now) =>
      importJobs(await this.#jobs(store), { ...options, ...lines, now }),
    )
  }

  async #jobs(opened?: Store): Promise<CommandJobs> {
    const { CommandJobs } = await import('./command-jobs.js')
    const { storeUrl, clock } = this.#context
    const store = opened ?? (await this.#context.store())
    return new CommandJobs({ store, storeUrl, clock, path: this.#file })
  }

  async #assertActive(id: string): Promise<void> {
    const { state } = await this.get(id)
    if (state === 'removed' || state === 'cleaned-up')
      throw new RotaError('JOB_UNKNOWN', `the command job ${id} is removed`)
  }

  /** Checks the jobs once before anything is planned, because the handler of a command may have changed. */
  async #prepare({ roles, pollMs }: StartingApp): Promise<void> {
    if (!roles.scheduler) return
    const { JobsKeeper } = await import('./keeper.js')
    const { clock, events, now, wake } = this.#context
    this.#keeper = new JobsKeeper({ jobs: await this.#jobs(), clock, events, now, pollMs, onChange: wake })
    await this.#keeper.look()
  }

  async #start({ store, roles, sources, pollMs }: StartingApp): Promise<void> {
    const { source } = (await this.#jobs()).place ?? {}
    if (source !== undefined) sources.add(source)
    this.#keeper?.start()
    if (!roles.worker) return
    const { failUnclaimedRuns } = await import('./unclaimed.js')
    const { clock, events, now, settings } = this.#context
    const { leaseMs, offerAfterMs } = settings
    this.#endUnclaimed = failUnclaimedRuns({ store, clock, now, events, leaseMs, offerAfterMs, pollMs })
  }
}

/** A value that is not an object is refused later, with all other faults. */
function withId(job: AddJob): AddJob {
  if (typeof job !== 'object' || (job as AddJob | null) === null || job.id !== undefined) return job
  return { ...job, id: `job_${randomBytes(16).toString('hex')}` }
}

function auditOf(action: string, id: string): AskedAudit {
  return { action, subjects: [{ kind: 'trigger', name: id }] }
}

/** The number of lines by result. */
function countsOf(lines: readonly ImportedLine[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { became } of lines) counts[became] = (counts[became] ?? 0) + 1
  return counts
}
