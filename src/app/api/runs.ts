import type { AskedAudit } from '../../engine/audit-change.js'
import { retryRun } from '../../engine/retry-run.js'
import type { AppContext } from '../../features/app-context.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import { readInstants, type InstantInput } from '../../kernel/definition/read-instant.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { PendingReason } from '../../kernel/run/pending.js'
import type { Attempt, Run } from '../../kernel/run/run.js'
import type { Store, StoredLogLine } from '../../store/port.js'
import type { RunFilter as StoreFilter } from '../../store/run-filter.js'
import { advanceRun, cancelRun, findRun } from '../runs/runs.js'
import { whyPending } from '../runs/waiting.js'

/** Which runs are listed. */
export interface RunFilter extends Partial<Omit<StoreFilter, 'sinceAt' | 'untilAt'>> {
  /** Due at this time or later. */
  readonly since?: InstantInput | undefined
  /** Due at this time or earlier. */
  readonly until?: InstantInput | undefined
}

/** `app.runs`: reads, waits for, cancels and retries runs. */
export class Runs {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** One run, by its id or the beginning of it. */
  async get(id: string): Promise<Run> {
    return await findRun(await this.#context.store(), id)
  }

  /** Runs, newest first; at most 50 by default. */
  async list(filter: RunFilter = {}): Promise<readonly Run[]> {
    const { since, until, ...rest } = filter
    const { since: sinceAt, until: untilAt } = readInstants('the filter', { since, until })
    return await (await this.#context.store()).runs({ limit: 50, ...rest, sinceAt, untilAt })
  }

  /** Every attempt of a run, oldest first. */
  async attempts(id: RunId): Promise<readonly Attempt[]> {
    return await (await this.#context.store()).attempts(id)
  }

  /** The log lines of a run after a sequence number; at most 1000 by default. */
  async logs(
    id: RunId,
    options: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<readonly StoredLogLine[]> {
    const { after = 0, limit = 1000 } = options
    return await (await this.#context.store()).logs({ run: id, after, limit })
  }

  /** Resolves with the current run when it is final or the signal aborts. */
  async wait(id: RunId, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<Run> {
    return await this.#context.waitForRun(id, options.signal)
  }

  /** Cancels a run: a pending one immediately, a running one as soon as its worker has stopped it. */
  async cancel(
    id: string,
    options: ChangeOptions = {},
  ): Promise<{ readonly run: Run; readonly requested: boolean }> {
    const { change, author } = this.#context
    const { reason = author.reason ?? 'cancelled on request', dryRun } = options
    const outcome = ({ requested }: { requested: boolean }): string => (requested ? 'requested' : 'cancelled')
    const audit = auditOf('run.cancel', id)
    return await change({ operation: 'cancel', target: id, outcome, options, audit }, (store, now) =>
      cancelRun(store, { id, reason, now, dryRun }),
    )
  }

  /** Makes a failed or cancelled run pending again, with all its tries. */
  async retry(id: string, options: ChangeOptions = {}): Promise<Run> {
    const { dryRun } = options
    const audit = auditOf('run.retry', id)
    const asked = { operation: 'retry', target: id, outcome: () => 'pending', options, audit }
    return await this.#context.change(asked, async (store, now) =>
      retryRun(store, await findRun(store, id), { now, dryRun }),
    )
  }

  /** Makes a delayed run, or one that waits for its next attempt, claimable immediately. */
  async advance(id: string, options: ChangeOptions = {}): Promise<Run> {
    const { dryRun } = options
    const audit = auditOf('run.advance', id)
    const asked = { operation: 'advance', target: id, outcome: () => 'due now', options, audit }
    return await this.#context.change(asked, (store, now) => advanceRun(store, { id, now, dryRun }))
  }

  /** Why a pending run has not been started, the main reason first; empty if it is not pending. */
  async whyPending(id: string): Promise<readonly PendingReason[]> {
    const store = await this.#context.store()
    return await whyPending(store, { run: await findRun(store, id), now: this.#context.now() })
  }
}

/** The audit of a change of a run, which may be named by the beginning of its id. */
function auditOf(action: string, id: string) {
  return async (store: Store): Promise<AskedAudit> => {
    const run = await findRun(store, id)
    return { action, subjects: [{ kind: 'run', id: run.id }] }
  }
}
