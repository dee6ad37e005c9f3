import type { DryRun } from '../kernel/definition/dry-run.js'
import { RotaError } from '../kernel/definition/errors.js'
import type { Run } from '../kernel/run/run.js'
import type { Store } from '../store/port.js'
import type { Instant } from '../time/instant.js'

/** Makes a failed or cancelled run pending again; returns its new state. */
export async function retryRun(
  store: Store,
  run: Run,
  { now, dryRun }: { readonly now: Instant } & DryRun,
): Promise<Run> {
  const { id, state } = run
  const canRetry = state === 'failed' || state === 'cancelled'
  const answer = dryRun === true ? canRetry || 'not-final' : await store.retry({ run: id, now })
  if (answer === 'not-final') {
    throw new RotaError('RUN_STATE', `run ${id} is ${state}; only a failed or cancelled one can be retried`)
  }
  return (await store.run(id)) ?? run
}
