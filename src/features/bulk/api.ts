import { splitChange, type ChangeOptions } from '../../kernel/audit/change-options.js'
import type { Run } from '../../kernel/run/run.js'
import type { AppContext } from '../app-context.js'
import type { Bulk } from './bulk.js'
import type { BulkRequest } from './request.js'

/** What a bulk would do. */
export interface BulkPlan {
  /** How many runs it would change. */
  readonly count: number
  /** Whether there are more runs than the limit. */
  readonly isCapped: boolean
  /** How many it would leave as they are, by reason. */
  readonly skipped: Readonly<Record<string, number>>
  /** The newest runs that it would change: at most 20. */
  readonly examples: readonly Run[]
}

/** A bulk that was started, or what it would do. */
export interface StartedBulk extends BulkPlan {
  /** Absent after a dry run. */
  readonly bulk: Bulk | undefined
}

/** The part of the app that routes and commands use. */
export interface BulkApp {
  readonly bulk: Bulks
}

/** `app.bulk`: actions on many runs. */
export class Bulks {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** Starts an action on many runs; processes with the scheduler role perform it. A dry run only says what it would do. */
  async start(request: BulkRequest): Promise<StartedBulk> {
    const { checkRequest } = await import('./request.js')
    const { selectRuns } = await import('./select.js')
    const { createBulk } = await import('./store-bulks.js')
    const { now: clockNow, author } = this.#context
    const { selection, limit, ...what } = checkRequest(request, clockNow(), author.by)
    const { change: options } = splitChange(request)
    const asked = {
      operation: 'bulk',
      target: what.action,
      outcome: ({ bulk }: StartedBulk) => bulk?.state ?? 'planned',
      details: ({ bulk }: StartedBulk) => ({ id: bulk?.id ?? null, runs: bulk?.total ?? 0 }),
      options,
      audit: {
        action: `bulk.${what.action}`,
        target: `runs:${what.filter ?? 'ids'}`,
        subjects: [],
        after: { filter: what.filter, ids: request.ids?.length ?? null, limit },
      },
    }
    return await this.#context.change(asked, async (store, now) => {
      const { ids, ...plan } = await selectRuns(store, { action: what.action, selection, limit, now })
      if (options.dryRun === true) return { ...plan, bulk: undefined }
      return { ...plan, bulk: await createBulk(store, { ...what, ids, now }) }
    })
  }

  /** One bulk, by its id. */
  async get(id: string): Promise<Bulk> {
    const { findBulk } = await import('./store-bulks.js')
    return (await findBulk(await this.#context.store(), id)).bulk
  }

  /** The bulks of the last thirty days, the newest first; at most 50 by default. */
  async list({
    limit = 50,
    after,
  }: {
    limit?: number
    after?: string | undefined
  } = {}): Promise<readonly Bulk[]> {
    const { listBulks } = await import('./store-bulks.js')
    const all = await listBulks(await this.#context.store())
    const rest = after === undefined ? all : all.filter(({ bulk }) => bulk.id < after)
    return rest.slice(0, limit).map(({ bulk }) => bulk)
  }

  /** Aborts a bulk: changes that were made stay. */
  async abort(
    id: string,
    options: ChangeOptions = {},
  ): Promise<{ readonly bulk: Bulk; readonly wasRunning: boolean }> {
    const { abortBulk } = await import('./store-bulks.js')
    const { bulkKey } = await import('./bulk.js')
    const asked = {
      operation: 'abort bulk',
      target: id,
      outcome: ({ wasRunning }: { wasRunning: boolean }) => (wasRunning ? 'aborted' : 'over already'),
      options,
      audit: { action: 'bulk.abort', subjects: [{ kind: 'state', key: bulkKey(id) } as const] },
    }
    return await this.#context.change(asked, (store, now) => abortBulk(store, { id, now }))
  }

  /** Performs a bulk in this process until it is over, while other processes may do the same; calls `onProgress` after every batch. */
  async perform(
    id: string,
    options: {
      readonly signal?: AbortSignal | undefined
      readonly onProgress?: ((bulk: Bulk) => void) | undefined
    } = {},
  ): Promise<Bulk> {
    const { findBulk } = await import('./store-bulks.js')
    const { performBatch } = await import('./perform.js')
    const { store, now, wake, clock } = this.#context
    const opened = await store()
    for (;;) {
      const stored = await findBulk(opened, id)
      options.onProgress?.(stored.bulk)
      if (stored.bulk.state !== 'running' || options.signal?.aborted === true) return stored.bulk
      const answer = await performBatch(opened, stored, now())
      wake()
      // Another process performed this batch.
      if (answer === 'stale') await clock.sleep(50, options.signal)
    }
  }
}
