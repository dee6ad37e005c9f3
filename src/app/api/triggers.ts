import type { TriggerBackfillOptions } from '../../engine/backfill/trigger-plan.js'
import { findTrigger } from '../../engine/sync/find-definition.js'
import type { AppContext } from '../../features/app-context.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import type { JobInput } from '../../kernel/job/define-job.js'
import type { TriggerInput } from '../../kernel/trigger/define-trigger.js'
import type { StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { Enqueued } from '../../store/port.js'
import type { HoldOptions } from '../control/holds.js'
import type { Added } from '../definitions/definitions.js'
import type { Enqueuer, RunNowOptions } from '../runs/enqueuer.js'
import { addAll } from './add.js'
import type { TriggerBackfill } from './backfills.js'
import { hold, release, type ReleaseOptions } from './holds.js'

/** `app.triggers`: the triggers in the store, and those that are added at run time. */
export class Triggers {
  readonly #context: AppContext
  readonly #enqueuer: Enqueuer

  constructor(context: AppContext, enqueuer: Enqueuer) {
    this.#context = context
    this.#enqueuer = enqueuer
  }

  /** One trigger by its name, also one that has ended. */
  async get(name: string): Promise<StoredTrigger> {
    return await findTrigger(await this.#context.store(), name)
  }

  /** All triggers, by name. */
  async list(): Promise<readonly StoredTrigger[]> {
    return await (await this.#context.store()).triggers()
  }

  /** Adds triggers at run time, and new jobs for them. */
  async add(
    triggers: Readonly<Record<string, TriggerInput>>,
    options: {
      readonly jobs?: Readonly<Record<string, JobInput>> | undefined
      /** Changes existing definitions instead of refusing them. */
      readonly replace?: boolean | undefined
    } & ChangeOptions = {},
  ): Promise<Added> {
    return await addAll(this.#context, { triggers, ...options })
  }

  /** Changes options of a trigger that was added at run time; omitted options do not change. */
  async edit(
    name: string,
    options: Partial<TriggerInput>,
    change: ChangeOptions = {},
  ): Promise<{ readonly before: StoredTrigger; readonly after: Trigger }> {
    const { dryRun } = change
    const audit = { action: 'trigger.define', subjects: [{ kind: 'trigger', name } as const] }
    const outcome = (): string => 'trigger changed'
    const asked = { operation: 'change', target: name, outcome, options: change, audit }
    const { editTrigger } = await import('../definitions/edit-trigger.js')
    return await this.#context.change(asked, (store, now) =>
      editTrigger(store, { name, options: { ...options }, dryRun, now }),
    )
  }

  /** Ends and returns a trigger that was added at run time. Its pending runs are cancelled, its history stays. */
  async remove(name: string, options: ChangeOptions = {}): Promise<StoredTrigger> {
    const audit = { action: 'trigger.remove', subjects: [{ kind: 'trigger', name } as const] }
    const asked = { operation: 'remove', target: name, outcome: () => 'trigger removed', options, audit }
    const { removeTrigger } = await import('../definitions/definitions.js')
    const { dryRun } = options
    return await this.#context.change(asked, (store, now) => removeTrigger(store, { name, now, dryRun }))
  }

  /** Pauses a trigger; false if it was already paused. */
  async pause(name: string, options: HoldOptions = {}): Promise<boolean> {
    return await hold(this.#context, `trigger:${name}`, options)
  }

  /** Resumes a trigger. Instants that were due meanwhile stay skipped, unless `catchUp` is set. */
  async resume(name: string, options: ReleaseOptions = {}): Promise<boolean> {
    return await release(this.#context, `trigger:${name}`, options)
  }

  /** Plans to run the due instants of a range again, with the definitions of that time. `app.backfills` starts, shows and cancels it. */
  async backfill(
    name: string,
    options: TriggerBackfillOptions &
      ChangeOptions & {
        /** Starts it immediately. */
        readonly start?: boolean | undefined
      },
  ): Promise<TriggerBackfill> {
    const { backfillTrigger } = await import('./backfills.js')
    return await backfillTrigger(this.#context, name, options)
  }

  /** Runs the job of a trigger now; its schedule does not change. */
  async runNow(name: string, options: RunNowOptions = {}): Promise<Enqueued> {
    return await this.#enqueuer.runTrigger(name, options)
  }
}
