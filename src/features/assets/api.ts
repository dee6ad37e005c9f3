import { namedCalendars } from '../../engine/sync/calendars.js'
import { findJob } from '../../engine/sync/find-definition.js'
import { splitChange, type ChangeOptions } from '../../kernel/audit/change-options.js'
import { jobName, type AnyJob, type JobRef } from '../../kernel/job/job-ref.js'
import { assertPartition, isAsset } from '../../kernel/partition/asset.js'
import type { Run } from '../../kernel/run/run.js'
import {
  defineTrigger,
  type ScheduleOptions,
  type TriggerInput,
} from '../../kernel/trigger/define-trigger.js'
import type { Enqueued } from '../../store/port.js'
import type { AppContext } from '../app-context.js'
import type { AssetRun } from './asset-run.js'
import { startBackfill, type StartedBackfill } from './backfill/api.js'
import type { BackfillOptions } from './backfill/backfills.js'
import { checkAssets, unknownAsset } from './check.js'
import { defineAsset, functionOfAsset, ownSchedules, scheduleOrigin, type AssetInput } from './definition.js'
import type { AssetSchedule } from './schedules.js'
import type { AssetInfo, PartitionStatus } from './status.js'

/** An asset as code writes it. */
export interface AppAssetOptions<Payload = unknown> extends Omit<AssetInput, 'materialize'> {
  /** A function that produces one partition; its return value is stored as the run's result. */
  readonly materialize?: ((run: AssetRun<Payload>) => unknown) | undefined
}

/** When an asset is due. */
export interface AssetScheduleOptions extends ScheduleOptions {
  /** The name of the schedule; default: the name of the asset. */
  readonly name?: string | undefined
}

/** Which partitions are listed: the newest ones by default. */
export interface GridOptions {
  /** The first and the last partition of a range. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Or the partitions themselves. */
  readonly labels?: readonly string[] | undefined
  /** Or this many of the newest. */
  readonly newest?: number | undefined
  /** Only those after this one, which is the last one of the previous page. */
  readonly after?: string | undefined
  /** At most this many; default: all. */
  readonly limit?: number | undefined
}

/** `app.assets`: data that is produced in partitions, and its dependencies. */
export class Assets {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** Defines an asset. Its partitions are produced on schedule, on request, or when all their upstream partitions are done. */
  define<Payload = unknown>(name: string, input: AppAssetOptions<Payload>): JobRef<Payload> {
    const { assertNotStarted, definitions } = this.#context
    assertNotStarted('an asset')
    const { job, follower } = defineAsset(name, input)
    definitions.addCheck(checkAssets)
    definitions.addJob(job, functionOfAsset(input))
    if (follower !== undefined) definitions.addTrigger(follower)
    return { name }
  }

  /** Defines when an asset is due: by code before the start, at run time after it. The same name replaces the schedule. A faulty definition throws immediately. */
  schedule(asset: AnyJob, options: AssetScheduleOptions & ChangeOptions): Promise<void> {
    const job = jobName(asset)
    const given = (options as (AssetScheduleOptions & ChangeOptions) | null) ?? {}
    const { change, rest } = splitChange(given)
    const { name = job, ...schedule } = rest
    const { isStarted, definitions } = this.#context
    // An app without definitions asks the store, like a running app.
    if (isStarted || definitions.jobs.size === 0) return this.#scheduleNow(name, { ...schedule, job }, change)
    this.#addSchedule(name, { ...schedule, job }, change.dryRun)
    return Promise.resolve()
  }

  /** Ends a schedule; runs that are due already continue. A schedule that does not exist is no error. */
  async unschedule(name: string, options: ChangeOptions = {}): Promise<{ readonly removed: boolean }> {
    const { definitions, change, source } = this.#context
    const planned = definitions.part(ownSchedules)
    const isKnown = planned.has(name) && definitions.triggers.has(name)
    if (options.dryRun !== true && planned.delete(name)) definitions.triggers.delete(name)
    const asked = {
      operation: 'unschedule',
      target: name,
      outcome: ({ removed }: { removed: boolean }) => (removed ? 'removed' : 'not there'),
      options,
      audit: { action: 'asset.unschedule', subjects: [{ kind: 'trigger', name } as const] },
    }
    const { endSchedule } = await import('./schedules.js')
    return await change(asked, async (store, now) => {
      const { removed } = await endSchedule(store, { name, own: source, now })
      return { removed: removed || isKnown }
    })
  }

  /** All schedules of assets, by name; also those that are not in the store yet. */
  async schedules(): Promise<readonly AssetSchedule[]> {
    const { listSchedules } = await import('./schedules.js')
    const { definitions, store, source } = this.#context
    const planned = [...definitions.part(ownSchedules)].flatMap(
      (name) => definitions.triggers.get(name) ?? [],
    )
    return await listSchedules(await store(), { planned, source })
  }

  /**
   * Produces one partition of an asset now. If a run that was requested this way is unfinished, that run is the answer.
   * With `wait` the promise resolves when the run has ended.
   */
  async materialize(
    asset: AnyJob,
    options: {
      readonly partition?: string | undefined
      readonly wait?: boolean | undefined
      readonly signal?: AbortSignal | undefined
    } & ChangeOptions = {},
  ): Promise<Enqueued & { readonly run?: Run }> {
    const { definitions, enqueue, waitForRun } = this.#context
    const { partition, wait = false, signal, ...change } = options
    const { dryRun } = change
    const store = await this.#context.store()
    const { asAsset } = await import('./status.js')
    const name = jobName(asset)
    const job = asAsset(definitions.jobs.get(name)?.job ?? (await findJob(store, name)))
    // Checked first, because the label becomes part of other texts, whose faults would be confusing.
    assertPartition(job, partition)
    const uniqueKey = `partition:${partition ?? ''}`
    const enqueued = await enqueue(name, { partition, uniqueKey, ...change })
    return wait && dryRun !== true ? { ...enqueued, run: await waitForRun(enqueued.id, signal) } : enqueued
  }

  /** One asset by its name. */
  async get(name: string): Promise<AssetInfo> {
    const { findAsset, listAssets } = await import('./status.js')
    const store = await this.#context.storeWithJobs()
    await findAsset(store, name)
    return (await listAssets(store)).find((one) => one.name === name) as AssetInfo
  }

  /** All assets, by name. */
  async list(): Promise<readonly AssetInfo[]> {
    const { listAssets } = await import('./status.js')
    return await listAssets(await this.#context.storeWithJobs())
  }

  /** The states of partitions: the newest ones, a range, or the given ones. */
  async grid(asset: AnyJob, options: GridOptions = {}): Promise<readonly PartitionStatus[]> {
    const { partitionsOf } = await import('./partitions/list.js')
    const { storeWithJobs, now } = this.#context
    return await partitionsOf(await storeWithJobs(), { asset: jobName(asset), ...options, now: now() })
  }

  /** Starts a backfill, if there is anything to produce. With `dryRun` it only returns the plan. */
  async backfill(asset: AnyJob, options: BackfillOptions & ChangeOptions): Promise<StartedBackfill> {
    return await startBackfill(this.#context, jobName(asset), options)
  }

  /** The same name again replaces the schedule. */
  #addSchedule(name: string, input: TriggerInput, dryRun: boolean | undefined): void {
    const { jobs, triggers } = this.#context.definitions
    const asset = jobs.get(input.job)?.job.asset
    if (asset === undefined) {
      const known = [...jobs.values()].map(({ job }) => job).filter(isAsset)
      throw unknownAsset(
        name,
        input.job,
        known.map((job) => job.name),
      )
    }
    const trigger = defineTrigger(name, input, {
      asset,
      calendars: this.#context.definitions.part(namedCalendars),
    })
    if (dryRun === true) return
    const schedules = this.#context.definitions.part(ownSchedules)
    if (schedules.has(name)) triggers.delete(name)
    this.#context.definitions.addTrigger(trigger, scheduleOrigin)
    schedules.add(name)
  }

  async #scheduleNow(name: string, input: TriggerInput, options: ChangeOptions): Promise<void> {
    const asked = {
      operation: 'schedule',
      target: name,
      outcome: () => 'scheduled',
      options,
      audit: { action: 'asset.schedule', subjects: [{ kind: 'trigger', name } as const] },
      needsJobs: true,
    }
    const { defineSchedule } = await import('./schedules.js')
    await this.#context.change(asked, (store, now) => defineSchedule(store, { name, input, now }))
  }
}
