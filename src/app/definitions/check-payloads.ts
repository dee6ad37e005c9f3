import type { Registry } from '../../engine/sync/registry.js'
import { RotaError, refuse, type Fault } from '../../kernel/definition/errors.js'
import { checkPayload, payloadSchemas } from '../../kernel/job/payload-schema.js'
import { toPayload } from '../../kernel/job/payload.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'

/** Gives the triggers of an app the payloads that the schemas of their jobs return; throws one error with all faults. */
export async function checkPayloads(registry: Registry): Promise<void> {
  const faults: Fault[] = []
  for (const trigger of registry.triggers.values()) {
    const schema = registry.part(payloadSchemas).get(trigger.job)
    if (schema === undefined || trigger.round !== undefined) continue
    try {
      const payload = toPayload(await checkPayload(schema, trigger.job, trigger.payload))
      registry.triggers.set(trigger.name, { ...trigger, payload } satisfies Trigger)
    } catch (error) {
      if (!(error instanceof RotaError) || error.faults.length === 0) throw error
      faults.push(
        ...error.faults.map(({ path, message }) => ({ path: `triggers.${trigger.name}.${path}`, message })),
      )
    }
  }
  refuse('the app', faults)
}
