import { changeRecord } from '../../engine/audit-change.js'
import type { Events } from '../../engine/events.js'
import { someIds, emitFailure } from '../../engine/operations.js'
import { wakeForCommit } from '../../engine/worker/wake-for-commit.js'
import { findJob, findTrigger } from '../../engine/sync/find-definition.js'
import type { Registry } from '../../engine/sync/registry.js'
import type { Author, ChangeOptions } from '../../kernel/audit/change-options.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { jobName, type JobRef } from '../../kernel/job/job-ref.js'
import { checkPayload, payloadSchemas, type PayloadSchema } from '../../kernel/job/payload-schema.js'
import type { Labels, NewRun } from '../../kernel/run/run.js'
import { jobsOf } from '../../kernel/trigger/trigger.js'
import type { Enqueued, Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { OwnDefinitions } from '../definitions/own-definitions.js'
import type { Lifecycle } from '../lifecycle.js'
import type { Tracing } from '../tracing/tracing.js'
import { rehearsal } from '../store/without-writes.js'
import {
  enqueueInTransaction,
  newManualRun,
  newRun,
  readEnqueueOptions,
  type EnqueueOptions,
} from './enqueue.js'

/** The options of a manual run. */
export interface RunNowOptions extends ChangeOptions {
  /** Default: the trigger's payload. */
  readonly payload?: unknown
  /** The partition that the run is about; default: the partition of the current instant. */
  readonly partition?: string | undefined
}

/** The parts of an app that recording runs needs. */
export interface EnqueuerOptions {
  readonly lifecycle: Lifecycle
  readonly own: OwnDefinitions
  readonly registry: Registry
  readonly events: Events
  readonly tracing: Tracing
  readonly storeUrl: () => string
  readonly author: Author
}

/** An audit entry lists up to this many runs; for more it has only their number. */
const mostSubjects = 20

/** A manual run, before it has an instant. */
type ManualRun = Omit<Parameters<typeof newManualRun>[0], 'now' | 'payload' | 'labels'> & RunNowOptions

/** Records runs of jobs. */
export class Enqueuer {
  readonly #app: EnqueuerOptions
  #inProgress = 0
  #onIdle: (() => void) | undefined

  constructor(app: EnqueuerOptions) {
    this.#app = app
    // Calls before the close are completed: they may still be waiting for the store.
    app.lifecycle.join({ close: () => this.#idle() })
  }

  /** Records many runs of a job, all with the same options. */
  async enqueueMany<Payload>(
    job: JobRef<Payload> | string,
    payloads: readonly (Payload | undefined)[],
    options: EnqueueOptions,
  ): Promise<readonly Enqueued[]> {
    const { lifecycle, registry, events, tracing } = this.#app
    const name = jobName(job)
    this.#inProgress += 1
    try {
      // The options of a caller without types may be anything; they are checked below.
      const isDry = (options as EnqueueOptions | null)?.dryRun === true
      const store = isDry ? await this.rehearsalStore() : await this.storeWithJobs()
      const definition = registry.jobs.get(name)?.job ?? (await findJob(store, name))
      const now = lifecycle.now()
      const terms = readEnqueueOptions(options, now)
      const schema = registry.part(payloadSchemas).get(name)
      // Without a schema nothing is awaited here: this is the hot path.
      const checked = schema === undefined ? payloads : await checkAll(schema, name, payloads)
      const newRuns = (labels?: Labels): NewRun[] =>
        checked.map((payload) => newRun({ job: definition, payload, terms, now, labels }))
      if (isDry) return await store.enqueue({ runs: newRuns(), now })
      const record = (labels?: Labels): Promise<readonly Enqueued[]> =>
        this.#record(store, { runs: newRuns(labels), now, options, target: `job:${name}` })
      const spans = tracing.isLoaded ? tracing.spans : await tracing.load()
      const recorded =
        spans === undefined ? record() : spans.record({ job: name, runs: checked.length }, record)
      const answers = await recorded
      if (events.has('operation')) this.#tell('enqueue', name, answers)
      return answers
    } catch (error) {
      emitFailure(events, { operation: 'enqueue', target: name }, error)
      throw error
    } finally {
      this.#inProgress -= 1
      if (this.#inProgress === 0) this.#onIdle?.()
    }
  }

  #record(
    store: Store,
    asked: { runs: readonly NewRun[]; now: Instant; options: EnqueueOptions; target: string },
  ): Promise<readonly Enqueued[]> {
    const { lifecycle, storeUrl } = this.#app
    const { runs, now, options } = asked
    if (options.tx !== undefined) return enqueueInTransaction(options.tx, { storeUrl: storeUrl(), runs, now })
    const audited = this.#audited(store, asked)
    const enqueued = audited.enqueue({ runs, now })
    const wake = (): void => lifecycle.wakeForRuns()
    if (audited !== store) return wakeForCommit(store, enqueued, wake)
    // A turn can join a plain enqueue in every store.
    wake()
    return enqueued
  }

  /** Enqueues by a program are not audited: the runs are their record, and there may be thousands a second. */
  #audited(
    store: Store,
    asked: { runs: readonly NewRun[]; now: Instant; options: ChangeOptions; target: string },
  ): Store {
    const { author } = this.#app
    const { runs, now, options, target } = asked
    const isByCode = (options.via ?? author.via) === 'code' && options.by === undefined
    if (isByCode) return store
    const isFew = runs.length <= mostSubjects
    const subjects = isFew ? runs.map(({ id }) => ({ kind: 'run', id }) as const) : []
    const action = 'run.enqueue'
    const audit = { action, target, subjects, after: isFew ? undefined : { runs: runs.length } }
    return store.audited(changeRecord([audit], { options, author, now }))
  }

  /** Runs the job of a trigger now. */
  async runTrigger(name: string, options: RunNowOptions): Promise<Enqueued> {
    return await this.#runNow(`trigger:${name}`, options, async (store) => {
      const trigger = await findTrigger(store, name)
      if (trigger.trigger.round !== undefined) {
        const services = jobsOf(trigger.trigger).join(', ')
        throw new RotaError('JOB_UNKNOWN', `${name} is a round; run one of its services: ${services}`)
      }
      const job = await findJob(store, trigger.trigger.job)
      return { job, trigger, ...options }
    })
  }

  /** Runs a job now. */
  async runJob(name: string, options: RunNowOptions): Promise<Enqueued> {
    return await this.#runNow(`job:${name}`, options, async (store) => {
      return { job: await findJob(store, name), trigger: undefined, ...options }
    })
  }

  /** The store after the jobs of this app were written to it. */
  async storeWithJobs(): Promise<Store> {
    const { lifecycle, own } = this.#app
    const store = lifecycle.opened ?? (await lifecycle.store())
    if (!own.areJobsWritten) await own.writeJobs(store, lifecycle.now())
    return store
  }

  /** The store for a dry run, which has the jobs of this app and writes nothing. */
  async rehearsalStore(): Promise<Store> {
    const { lifecycle, own, registry } = this.#app
    const jobs = [...registry.jobs.values()].map(({ job }) => ({ job, source: own.source }))
    return rehearsal(await lifecycle.store(), jobs)
  }

  async #idle(): Promise<void> {
    if (this.#inProgress > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
  }

  async #runNow(
    target: `trigger:${string}` | `job:${string}`,
    options: RunNowOptions,
    find: (store: Store) => Promise<ManualRun>,
  ): Promise<Enqueued> {
    const { lifecycle, events, registry, tracing, author } = this.#app
    const [kind, name] = [target.slice(0, target.indexOf(':')), target.slice(target.indexOf(':') + 1)]
    const isDry = options.dryRun === true
    try {
      const store = isDry ? await this.rehearsalStore() : await this.storeWithJobs()
      const found = await find(store)
      const { job, trigger } = found
      const given = found.payload === undefined ? trigger?.trigger.payload : found.payload
      const schema = registry.part(payloadSchemas).get(job.name)
      const payload = schema === undefined ? given : await checkPayload(schema, job.name, given)
      const now = lifecycle.now()
      const record = async (labels?: Labels): Promise<readonly Enqueued[]> => {
        const run = newManualRun({ ...found, payload, now, labels })
        const audit = { action: `${kind}.run`, target, subjects: [{ kind: 'run', id: run.id } as const] }
        const audited = store.audited(changeRecord([audit], { options, author, now }))
        return await wakeForCommit(store, audited.enqueue({ runs: [run], now }), () => lifecycle.wake())
      }
      if (isDry) return (await record())[0] as Enqueued
      const spans = await tracing.load()
      const answers = await (spans === undefined
        ? record()
        : spans.record({ job: job.name, runs: 1 }, record))
      this.#tell('run', name, answers)
      return answers[0] as Enqueued
    } catch (error) {
      if (!isDry) emitFailure(events, { operation: 'run', target: name }, error)
      throw error
    }
  }

  #tell(operation: string, target: string, answers: readonly Enqueued[]): void {
    const created = answers.filter((answer) => answer.created).length
    const details = { count: answers.length, created, runs: someIds(answers.map(({ id }) => id)) }
    const outcome = created === answers.length ? 'enqueued' : 'already there'
    this.#app.events.emit('operation', { operation, target, outcome, details })
  }
}

async function checkAll(
  schema: PayloadSchema,
  job: string,
  payloads: readonly unknown[],
): Promise<readonly unknown[]> {
  return await Promise.all(payloads.map((payload) => checkPayload(schema, job, payload)))
}
