import { breaches } from '../../engine/explain/breaches.js'
import { coverageOf } from '../../engine/explain/coverage.js'
import type { CoverageReport } from '../../kernel/ledger/coverage.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { loadTriggerKinds } from '../features.js'

/** The coverage of one trigger, or of every trigger. */
export async function coverageReport(
  store: Store,
  options: { readonly trigger: string | undefined; readonly since: Instant | undefined },
): Promise<readonly CoverageReport[]> {
  const filter = options.trigger === undefined ? undefined : { names: [options.trigger] }
  const triggers = await store.triggers(filter)
  if (options.trigger !== undefined && triggers.length === 0) {
    const known = (await store.triggers()).map(({ trigger }) => trigger.name)
    const message = noneNamed('trigger is named', options.trigger, { known, list: 'rota list' })
    throw new RotaError('TRIGGER_UNKNOWN', message)
  }
  const kinds = await loadTriggerKinds()
  const all: CoverageReport[] = []
  for (const trigger of triggers) {
    const coverage = await coverageOf(store, trigger, { kinds, since: options.since })
    all.push({ ...coverage, breaches: await countBreaches(store, trigger, coverage) })
  }
  return all
}

/** Triggers without an SLA need no query. */
async function countBreaches(
  store: Store,
  { trigger: { name, sla } }: StoredTrigger,
  { fromAt, untilAt }: Pick<CoverageReport, 'fromAt' | 'untilAt'>,
): Promise<number> {
  return sla === undefined ? 0 : (await breaches(store, { names: [name], fromAt, untilAt })).length
}
