import type { Registry } from '../../engine/sync/registry.js'
import { RotaError, refuse, type Fault } from '../../kernel/definition/errors.js'
import { frozen } from '../../kernel/definition/frozen.js'
import { checkPayload, payloadSchemas } from '../../kernel/job/payload-schema.js'
import { toPayload } from '../../kernel/job/payload.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'

/** Replaces the payloads of triggers by the output of their jobs' schemas; throws one error with all faults. */
export async function checkPayloads(registry: Registry): Promise<void> {
  const faults: Fault[] = []
  const checked = registry.part(checkedTriggers)
  for (const trigger of registry.triggers.values()) {
    const schema = registry.part(payloadSchemas).get(trigger.job)
    // After a failed start this is called again, and a schema need not accept its own output.
    if (schema === undefined || trigger.round !== undefined || checked.has(trigger)) continue
    try {
      const payload = toPayload(await checkPayload(schema, trigger.job, trigger.payload))
      const replaced: Trigger = frozen({ ...trigger, payload })
      checked.add(replaced)
      registry.triggers.set(trigger.name, replaced)
    } catch (error) {
      if (!(error instanceof RotaError) || error.faults.length === 0) throw error
      faults.push(
        ...error.faults.map(({ path, message }) => ({ path: `triggers.${trigger.name}.${path}`, message })),
      )
    }
  }
  refuse('the app', faults)
}

function checkedTriggers(): WeakSet<Trigger> {
  return new WeakSet()
}
