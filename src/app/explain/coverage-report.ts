import { coverageOf } from '../../engine/explain/coverage.js'
import type { Coverage } from '../../kernel/ledger/coverage.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { loadTriggerKinds } from '../features.js'

/** The coverage of one trigger, or of every trigger. */
export async function coverageReport(
  store: Store,
  options: { readonly trigger: string | undefined; readonly since: Instant | undefined },
): Promise<readonly Coverage[]> {
  const filter = options.trigger === undefined ? undefined : { names: [options.trigger] }
  const triggers = await store.triggers(filter)
  if (options.trigger !== undefined && triggers.length === 0) {
    const known = (await store.triggers()).map(({ trigger }) => trigger.name)
    const message = noneNamed('trigger is named', options.trigger, { known, list: 'rota list' })
    throw new RotaError('TRIGGER_UNKNOWN', message)
  }
  const kinds = await loadTriggerKinds()
  const all: Coverage[] = []
  for (const trigger of triggers) {
    all.push(await coverageOf(store, trigger, { kinds, since: options.since }))
  }
  return all
}
