import { resolve } from 'node:path'
import { RotaError } from '../../kernel/definition/errors.js'
import type { JobInput, JobOptions } from '../../kernel/job/define-job.js'
import type { ModuleInput } from '../../kernel/job/define-handler.js'
import type { Enqueued } from '../../store/port.js'
import type { AddJob, CommandJobInfo } from './command-jobs.js'
import type { ImportedLine, ImportOptions } from './import.js'
import { takerName, takingCommands, type CommandHandler } from '../../engine/worker/command-run.js'
import { someIds, tellFailure } from '../../engine/operations.js'
import type { JobRef } from '../../app/rota-options.js'
import { RotaWorkers } from '../../app/rota/workers.js'

/** How a jobs file stands. */
export interface JobsFileCheck {
  readonly error: RotaError | undefined
  readonly warnings: readonly string[]
}

/** Command jobs: what is due for whom, added and removed while everything runs. */
export abstract class RotaJobs extends RotaWorkers {
  /** Takes every command that no job is named after; a handler that is named as a module can be isolated. */
  onCommand(
    handler: CommandHandler | ModuleInput,
    options: JobOptions & Pick<JobInput, 'isolate' | 'memoryMb'> = {},
  ): JobRef {
    const own = typeof handler === 'function' ? takingCommands(handler) : handler
    return this.define(takerName, { ...options, handler: own })
  }

  /** Uses a jobs file in place: its lines are jobs, new jobs become lines, and what was executed is marked there. */
  jobsFile(path: string): void {
    this.assertNotStarted('a jobs file')
    this.registry.jobsFile = resolve(this.directory, path)
  }

  /** Checks a command job, stores it and with that schedules it; an id that is taken is a conflict that changes nothing. */
  async addJob(job: AddJob): Promise<CommandJobInfo> {
    const asked = {
      operation: 'add job',
      target: (job as AddJob | null)?.id ?? 'a new job',
      outcome: () => 'added',
      details: ({ id }: CommandJobInfo) => ({ job: id }),
    }
    const added = await this.tell(asked, async () => {
      await this.#writeOwn()
      return await (await this.commandJobs()).add(job, this.now())
    })
    this.wake()
    return added
  }

  /** Removes a command job: what is going on may finish, what was not begun is cancelled. */
  async removeJob(id: string): Promise<CommandJobInfo> {
    const asked = { operation: 'remove job', target: id, outcome: () => 'removed' }
    return await this.tell(asked, async () => (await this.commandJobs()).remove(id, this.now()))
  }

  /** A command job as it stands, also one that was removed. */
  async getJob(id: string): Promise<CommandJobInfo> {
    return await (await this.commandJobs()).get(id)
  }

  /** All command jobs that are not removed, by id. */
  async listJobs(): Promise<readonly CommandJobInfo[]> {
    return await (await this.commandJobs()).list()
  }

  /** What is wrong with the jobs file, where one is used: `error` where it cannot be read or has faulty lines, `warnings` of who may write it. */
  async checkJobsFile(): Promise<JobsFileCheck> {
    const jobs = await this.commandJobs()
    const warnings = jobs.fileOpenToOthers().map(({ message, todo }) => `${message}; ${todo}`)
    return { error: await jobs.fileTrouble(), warnings }
  }

  /** Runs a command job now and by hand; when it is due stays as it is. */
  async runJobNow(id: string): Promise<Enqueued> {
    try {
      await this.#assertActive(id)
    } catch (error) {
      tellFailure(this.events, { operation: 'run', target: id }, error)
      throw error
    }
    return await this.runNow(id)
  }

  async #assertActive(id: string): Promise<void> {
    const { state } = await this.getJob(id)
    if (state === 'removed' || state === 'cleaned-up')
      throw new RotaError('JOB_UNKNOWN', `the command job ${id} is removed`)
  }

  /** Removes one-shots that were executed, which also happens once a day; gives their ids. */
  async cleanupJobs(options: { readonly dryRun?: boolean } = {}): Promise<readonly string[]> {
    const isDry = options.dryRun ?? false
    const asked = {
      operation: 'clean up jobs',
      target: 'executed one-shots',
      outcome: () => (isDry ? 'nothing was changed' : 'removed'),
      details: (ids: readonly string[]) => ({ count: ids.length, jobs: someIds(ids) }),
    }
    return await this.tell(asked, async () => (await this.commandJobs()).cleanup({ isDry, now: this.now() }))
  }

  /** Adds the jobs of a file, and says what became of each line; faulty lines are left alone. */
  async importJobs(path: string, options: ImportOptions = {}): Promise<readonly ImportedLine[]> {
    const { importJobs } = await import('./import.js')
    const asked = {
      operation: 'import jobs',
      target: path,
      outcome: () => (options.dryRun === true ? 'nothing was changed' : 'imported'),
      details: countsOf,
    }
    const lines = await this.tell(asked, async () => {
      if (options.dryRun !== true) await this.#writeOwn()
      const request = { ...options, path: resolve(this.directory, path), now: this.now() }
      return await importJobs(await this.commandJobs(), request)
    })
    this.wake()
    return lines
  }

  /** All command jobs as the lines of a file. */
  async exportJobs(): Promise<string> {
    const { exportJobs } = await import('./import.js')
    return await exportJobs(await this.commandJobs())
  }

  /** A command finds the job it names. */
  async #writeOwn(): Promise<void> {
    const store = await this.store()
    if (!this.own.areJobsWritten) await this.own.writeJobs(store, this.now())
  }
}

/** How many lines became what. */
function countsOf(lines: readonly ImportedLine[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { became } of lines) counts[became] = (counts[became] ?? 0) + 1
  return counts
}
