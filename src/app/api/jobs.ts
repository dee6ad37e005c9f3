import { unknownJob } from '../../engine/sync/find-definition.js'
import type { AppContext } from '../../features/app-context.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import type { JobInput } from '../../kernel/job/define-job.js'
import type { Enqueued, StoredJob } from '../../store/port.js'
import type { Added } from '../definitions/definitions.js'
import type { Enqueuer, RunNowOptions } from '../runs/enqueuer.js'
import { addAll } from './add.js'

/** `app.jobs`: the jobs in the store, and those that are added at run time. */
export class Jobs {
  readonly #context: AppContext
  readonly #enqueuer: Enqueuer

  constructor(context: AppContext, enqueuer: Enqueuer) {
    this.#context = context
    this.#enqueuer = enqueuer
  }

  /** One job by its name. */
  async get(name: string): Promise<StoredJob> {
    const jobs = await this.list()
    const found = jobs.find(({ job }) => job.name === name)
    if (found !== undefined) return found
    throw unknownJob(
      name,
      jobs.map(({ job }) => job.name),
    )
  }

  /** All jobs, by name. */
  async list(): Promise<readonly StoredJob[]> {
    return await (await this.#context.store()).jobs()
  }

  /** Adds jobs at run time. */
  async add(
    jobs: Readonly<Record<string, JobInput>>,
    options: { readonly replace?: boolean | undefined } & ChangeOptions = {},
  ): Promise<Added> {
    return await addAll(this.#context, { jobs, ...options })
  }

  /** Removes a job that was added at run time, or that its source no longer defines. Returns the removed job. */
  async remove(name: string, options: ChangeOptions = {}): Promise<StoredJob> {
    const audit = { action: 'job.remove', subjects: [{ kind: 'job', name } as const] }
    const asked = { operation: 'remove', target: name, outcome: () => 'job removed', options, audit }
    const { removeJob } = await import('../definitions/definitions.js')
    const { dryRun } = options
    return await this.#context.change(asked, (store) => removeJob(store, { name, dryRun }))
  }

  /** Runs a job now. An asset without a partition gets the one of the current instant. */
  async runNow(name: string, options: RunNowOptions = {}): Promise<Enqueued> {
    return await this.#enqueuer.runJob(name, options)
  }
}
