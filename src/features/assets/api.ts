import {
  defineAsset,
  functionOfAsset,
  ownSchedules,
  scheduleOrigin,
  type AssetInput,
  type AssetOptions,
} from './definition.js'
import { checkAssets, unknownAsset } from './check.js'
import type { JobOptions } from '../../kernel/job/define-job.js'
import {
  defineTrigger,
  type ScheduleOptions,
  type TriggerInput,
} from '../../kernel/trigger/define-trigger.js'
import { assertPartition, isAsset } from '../../kernel/partition/asset.js'
import type { Backfill } from './backfill/backfill.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { shown } from '../../kernel/definition/faults.js'
import { isMap } from '../../kernel/definition/read-value.js'
import type { BackfillPlan } from './backfill/choice.js'
import type { Run } from '../../kernel/run/run.js'
import type { Enqueued } from '../../store/port.js'
import type { AssetRun } from './asset-run.js'
import type { AssetInfo, PartitionStatus } from './status.js'
import type { BackfillOptions, BackfillStatus } from './backfill/backfills.js'
import type { JobRef } from '../../app/rota-options.js'
import type { AssetSchedule } from './schedules.js'
import { RotaSensors } from '../sensors/api.js'

/** An asset as code writes it. */
export interface AppAssetOptions<Payload = unknown> extends JobOptions, AssetOptions {
  /** Makes one partition; what it returns is stored as the run's result. */
  readonly materialize: (run: AssetRun<Payload>) => unknown
}

/** When an asset is due. */
export interface AssetScheduleOptions extends ScheduleOptions {
  /** The name of the schedule; default: the name of the asset. */
  readonly name?: string | undefined
  readonly job?: never
}

type JobSchedule = ScheduleOptions & { readonly job: AnyJob }

type AnyJob = string | JobRef<never> | JobRef

/** Assets: data that is made in partitions, and what is made from what. */
export abstract class RotaAssets extends RotaSensors {
  /** Defines an asset. Its partitions are made when they are due, asked for, or when everything they need is done. */
  asset<Payload = unknown>(name: string, options: AppAssetOptions<Payload>): JobRef<Payload> {
    return this.defineAsset(name, options)
  }

  /** Defines an asset that is made by a function, a command, a request or a pipeline. */
  defineAsset<Payload = unknown>(name: string, input: AssetInput): JobRef<Payload> {
    this.assertNotStarted('an asset')
    this.own.changed()
    const { job, follower } = defineAsset(name, input)
    this.registry.addCheck(checkAssets)
    this.registry.addJob(job, functionOfAsset(input))
    if (follower !== undefined) this.registry.addTrigger(follower)
    return { name }
  }

  /** Defines when a job is due, under a name of its own. */
  schedule(name: string, options: JobSchedule): void
  /** Defines when an asset is due: by code before the start, afterwards at run time. The same name again replaces it. */
  schedule(asset: AnyJob, options: AssetScheduleOptions): Promise<void>
  schedule(what: AnyJob, options: JobSchedule | AssetScheduleOptions): void | Promise<void> {
    assertOptions(nameOf(what), options)
    if (isOfJob(options)) return this.scheduleJob(nameOf(what), options)
    const { name = nameOf(what), job: _, ...schedule } = options
    const input: TriggerInput = { ...schedule, job: nameOf(what) }
    const { jobs } = this.registry
    // An app that defines nothing asks the store, as one that runs does.
    if (this.isStarted || jobs.size === 0) return this.#scheduleNow(name, input)
    this.#addSchedule(name, input)
    return Promise.resolve()
  }

  /** Ends a schedule; runs that are due already go on. One that is not there is no error. */
  async unschedule(name: string): Promise<{ readonly removed: boolean }> {
    const isKnown = this.registry.part(ownSchedules).delete(name) && this.registry.triggers.delete(name)
    const asked = {
      operation: 'unschedule',
      target: name,
      outcome: ({ removed }: { removed: boolean }) => (removed ? 'removed' : 'not there'),
    }
    const { endSchedule } = await import('./schedules.js')
    return await this.tell(asked, async () => {
      const own = this.own.source
      const { removed } = await endSchedule(await this.store(), { name, own, now: this.now() })
      return { removed: removed || isKnown }
    })
  }

  /** All schedules of assets, by name; also those that are not in the store yet. */
  async listSchedules(): Promise<readonly AssetSchedule[]> {
    const { listSchedules } = await import('./schedules.js')
    const { triggers } = this.registry
    const planned = [...this.registry.part(ownSchedules)].flatMap((name) => triggers.get(name) ?? [])
    return await listSchedules(await this.store(), { planned, source: this.own.source })
  }

  /**
   * Makes one partition of an asset, now and by hand. While a run of it that was asked for this way has not ended, that
   * run is the answer. With `wait` the promise resolves when the run has ended.
   */
  async materialize(
    asset: AnyJob,
    options: {
      readonly partition?: string | undefined
      readonly wait?: boolean | undefined
      readonly signal?: AbortSignal | undefined
    } = {},
  ): Promise<Enqueued & { readonly run?: Run }> {
    const { partition, wait = false, signal } = options
    const store = await this.#written()
    const { asAsset } = await import('./status.js')
    const { storedJob } = await import('../../app/definitions/definitions.js')
    const name = nameOf(asset)
    const job = asAsset(this.registry.jobs.get(name)?.job ?? (await storedJob(store, name)))
    // Before its label becomes a part of other texts that would be refused with it.
    assertPartition(job, partition)
    const enqueued = await this.enqueue(name, undefined, {
      partition,
      uniqueKey: `partition:${partition ?? ''}`,
    })
    return wait ? { ...enqueued, run: await this.wait(enqueued.id, signal) } : enqueued
  }

  /** All assets, by name. */
  async assets(): Promise<readonly AssetInfo[]> {
    const { listAssets } = await import('./status.js')
    return await listAssets(await this.#written())
  }

  /** How partitions of an asset stand: the newest ones, a range, or those that are named. */
  async partitions(
    asset: AnyJob,
    options: {
      readonly from?: string | undefined
      readonly to?: string | undefined
      readonly labels?: readonly string[] | undefined
      readonly newest?: number | undefined
    } = {},
  ): Promise<readonly PartitionStatus[]> {
    const { partitionsOf } = await import('./partitions.js')
    return await partitionsOf(await this.#written(), { asset: nameOf(asset), ...options, now: this.now() })
  }

  /** What a backfill would make and what it would leave alone, without doing anything. */
  async planBackfill(asset: AnyJob, options: BackfillOptions): Promise<BackfillPlan> {
    const { backfillPlan } = await import('./backfill/backfills.js')
    return await backfillPlan(await this.#written(), { asset: nameOf(asset), options, now: this.now() })
  }

  /** Starts a backfill; nothing where there is nothing to make. One that was cut short is continued with `resumeBackfill`. */
  async backfill(asset: AnyJob, options: BackfillOptions): Promise<Backfill | undefined> {
    const { startBackfill } = await import('./backfill/backfills.js')
    const store = await this.#written()
    const asked = {
      operation: 'backfill',
      target: nameOf(asset),
      outcome: (started: Backfill | undefined) => (started === undefined ? 'nothing to make' : 'started'),
      details: (started: Backfill | undefined) => ({ id: started?.id ?? null, runs: started?.total ?? 0 }),
    }
    const started = await this.tell(asked, () =>
      startBackfill(store, { asset: nameOf(asset), options, now: this.now() }),
    )
    this.wake()
    return started
  }

  /** Records what a backfill has not recorded yet, because whoever started it died. */
  async resumeBackfill(id: string): Promise<Backfill> {
    const { continueBackfill } = await import('./backfill/backfills.js')
    const backfill = await continueBackfill(await this.#written(), { id, now: this.now() })
    this.wake()
    return backfill
  }

  /** Cancels what is left of a backfill. */
  async cancelBackfill(id: string): Promise<{ readonly backfill: Backfill; readonly cancelled: number }> {
    const { cancelBackfill } = await import('./backfill/backfills.js')
    const asked = { operation: 'cancel backfill', target: id, outcome: () => 'cancelled' }
    const answer = await this.tell(asked, async () =>
      cancelBackfill(await this.store(), { id, now: this.now() }),
    )
    this.wake()
    return answer
  }

  /** All backfills, newest first, or those of one asset. */
  async backfills(asset?: AnyJob): Promise<readonly Backfill[]> {
    const { listBackfills } = await import('./backfill/backfills.js')
    return await listBackfills(await this.store(), asset === undefined ? undefined : nameOf(asset))
  }

  /** How a backfill goes. */
  async backfillStatus(id: string): Promise<BackfillStatus> {
    const { backfillStatus } = await import('./backfill/backfills.js')
    return await backfillStatus(await this.store(), id)
  }

  /** The same name again replaces the schedule. */
  #addSchedule(name: string, input: TriggerInput): void {
    const { jobs, triggers } = this.registry
    const asset = jobs.get(input.job)?.job.asset
    if (asset === undefined) {
      const known = [...jobs.values()].map(({ job }) => job).filter(isAsset)
      throw unknownAsset(
        name,
        input.job,
        known.map((job) => job.name),
      )
    }
    const trigger = defineTrigger(name, input, asset)
    const schedules = this.registry.part(ownSchedules)
    if (schedules.has(name)) triggers.delete(name)
    this.registry.addTrigger(trigger, scheduleOrigin)
    schedules.add(name)
  }

  async #scheduleNow(name: string, input: TriggerInput): Promise<void> {
    const store = await this.#written()
    const asked = { operation: 'schedule', target: name, outcome: () => 'scheduled' }
    const { defineSchedule } = await import('./schedules.js')
    await this.tell(asked, () => defineSchedule(store, { name, input, now: this.now() }))
    this.wake()
  }

  /** The store, once it has the assets of this app. */
  async #written() {
    const store = await this.store()
    if (!this.own.areJobsWritten) await this.own.writeJobs(store, this.now())
    return store
  }
}

function isOfJob(options: JobSchedule | AssetScheduleOptions): options is JobSchedule {
  const job: unknown = options.job
  return job !== undefined && job !== null
}

function assertOptions(name: string, options: unknown): void {
  if (isMap(options)) return
  const message = `a map of options was expected, not ${shown(options)}`
  const faults = [{ path: `triggers.${name}`, message }]
  throw new RotaError('DEFINITION_INVALID', `schedule ${name}: ${message}`, { faults })
}

function nameOf(job: AnyJob): string {
  const name: unknown = typeof job === 'string' ? job : job?.name
  if (typeof name === 'string') return name
  throw new RotaError('DEFINITION_INVALID', 'the name of a job or an asset was expected')
}
