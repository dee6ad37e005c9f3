import type { PoolCounters } from '../../engine/worker/pool.js'
import type { ResultsOptions, TaskResult } from '../../engine/worker/results.js'
import type { RunId } from '../../kernel/identity/identity.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Attempt, Run } from '../../kernel/run/run.js'
import { jobsOf, type Trigger } from '../../kernel/trigger/trigger.js'
import type { Enqueued, RunFilter, StoredLogLine } from '../../store/port.js'
import { storedJob } from '../definitions/definitions.js'
import {
  enqueueInTransaction,
  newManualRun,
  newRun,
  readEnqueueOptions,
  type EnqueueOptions,
} from '../runs/enqueue.js'
import { someIds, tellFailure } from '../../engine/operations.js'
import type { JobRef } from '../rota-options.js'
import { cancelRun, findRun, retryRun, waitForRun } from '../runs/runs.js'
import { RotaDefinitions } from './define.js'

/** The runs of an app: making them, following them, ending them. */
export abstract class RotaRuns extends RotaDefinitions {
  /** Records a run of a job. It is durable when the promise resolves; a taken unique key gives the run that has it. */
  async enqueue<Payload>(
    job: JobRef<Payload> | string,
    payload?: Payload,
    options: EnqueueOptions = {},
  ): Promise<Enqueued> {
    const [enqueued] = await this.enqueueMany(job, [payload], options)
    return enqueued as Enqueued
  }

  /** Records many runs of a job in one go, all with the same options. */
  async enqueueMany<Payload>(
    job: JobRef<Payload> | string,
    payloads: readonly (Payload | undefined)[],
    options: EnqueueOptions = {},
  ): Promise<readonly Enqueued[]> {
    const name = typeof job === 'string' ? job : job.name
    try {
      const store = this.opened ?? (await this.store())
      if (!this.own.areJobsWritten) await this.own.writeJobs(store, this.now())
      const definition = this.registry.jobs.get(name)?.job ?? (await storedJob(store, name))
      const now = this.now()
      const terms = readEnqueueOptions(options, now)
      const runs = payloads.map((payload) => newRun({ job: definition, payload, terms, now }))
      if (options.tx !== undefined) {
        return await enqueueInTransaction(options.tx, { storeUrl: this.storeUrl, runs, now })
      }
      const enqueued = store.enqueue({ runs, now })
      // At once, not after the commit: the worker's turn then joins it and claims the run in the same transaction.
      this.wakeForRuns()
      const answers = await enqueued
      if (this.events.has('operation')) this.#tellEnqueued('enqueue', name, answers)
      return answers
    } catch (error) {
      tellFailure(this.events, { operation: 'enqueue', target: name }, error)
      throw error
    }
  }

  #tellEnqueued(operation: string, target: string, answers: readonly Enqueued[]): void {
    const created = answers.filter((answer) => answer.created).length
    const details = { count: answers.length, created, runs: someIds(answers.map(({ id }) => id)) }
    const outcome = created === answers.length ? 'enqueued' : 'already there'
    this.events.emit('operation', { operation, target, outcome, details })
  }

  /** Runs a trigger's job, or a job, now and by hand, beside everything that is scheduled. */
  async runNow(
    name: string,
    options: { readonly payload?: unknown; readonly partition?: string | undefined } = {},
  ): Promise<Enqueued> {
    try {
      return await this.#runNow(name, options)
    } catch (error) {
      tellFailure(this.events, { operation: 'run', target: name }, error)
      throw error
    }
  }

  async #runNow(
    name: string,
    options: { readonly payload?: unknown; readonly partition?: string | undefined },
  ): Promise<Enqueued> {
    const store = await this.store()
    if (!this.own.areJobsWritten) await this.own.writeJobs(store, this.now())
    const [trigger] = await store.triggers({ names: [name] })
    if (trigger?.trigger.round !== undefined) throw noJob(name, trigger.trigger)
    const job = await storedJob(store, trigger?.trigger.job ?? name)
    const now = this.now()
    const runs = [newManualRun({ job, trigger, ...options, payload: options.payload, now })]
    const enqueued = store.enqueue({ runs, now })
    this.wake()
    const answers = await enqueued
    this.#tellEnqueued('run', name, answers)
    return answers[0] as Enqueued
  }

  /** What every attempt in this process comes to, from now on; those not read in time are dropped and counted. */
  results(options: ResultsOptions = {}): AsyncIterableIterator<TaskResult> {
    return this.pool.results(options)
  }

  /** What the attempts in this process came to since the app was made. */
  poolCounters(): PoolCounters {
    return this.pool.counters
  }

  /** Runs, newest first. */
  async runs(filter: Partial<RunFilter> = {}): Promise<readonly Run[]> {
    return await (await this.store()).runs({ limit: 50, ...filter })
  }

  /** One run, by its id or the beginning of it. */
  async run(id: string): Promise<Run> {
    return await findRun(await this.store(), id)
  }

  /** Every attempt of a run, oldest first. */
  async attempts(id: RunId): Promise<readonly Attempt[]> {
    return await (await this.store()).attempts(id)
  }

  /** The lines that a run wrote, after a sequence number. */
  async logs(
    id: RunId,
    options: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<readonly StoredLogLine[]> {
    const { after = 0, limit = 1000 } = options
    return await (await this.store()).logs({ run: id, after, limit })
  }

  /** Resolves when a run is final, or when the signal aborts; gives the run as it then is. */
  async wait(id: RunId, signal?: AbortSignal): Promise<Run> {
    return await waitForRun({ store: await this.store(), clock: this.clock, id, signal })
  }

  /** Cancels a run: a waiting one at once, a running one as soon as its holder stops. */
  async cancel(id: string, reason = 'cancelled on request'): Promise<{ run: Run; requested: boolean }> {
    const outcome = ({ requested }: { requested: boolean }): string => (requested ? 'requested' : 'cancelled')
    const cancelled = await this.tell({ operation: 'cancel', target: id, outcome }, async () =>
      cancelRun(await this.store(), { id, reason, now: this.now() }),
    )
    this.wake()
    return cancelled
  }

  /** Gives a failed or cancelled run a fresh budget of attempts, now. */
  async retry(id: string): Promise<Run> {
    const retried = await this.tell({ operation: 'retry', target: id, outcome: () => 'pending' }, async () =>
      retryRun(await this.store(), { id, now: this.now() }),
    )
    this.wake()
    return retried
  }
}

function noJob(name: string, trigger: Trigger): RotaError {
  return new RotaError(
    'JOB_UNKNOWN',
    `${name} is a round; run one of its services: ${jobsOf(trigger).join(', ')}`,
  )
}
