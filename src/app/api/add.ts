import type { AppContext } from '../../features/app-context.js'
import { manyDefined, mostAudits, type AskedAudit } from '../../engine/audit-change.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import type { JobInput } from '../../kernel/job/define-job.js'
import type { TriggerInput } from '../../kernel/trigger/define-trigger.js'
import type { Added } from '../definitions/definitions.js'

/** Adds jobs and triggers at run time, all or none. */
export async function addAll(
  { change, definitions }: AppContext,
  input: {
    readonly jobs?: Readonly<Record<string, JobInput>> | undefined
    readonly triggers?: Readonly<Record<string, TriggerInput>> | undefined
    readonly replace?: boolean | undefined
  } & ChangeOptions,
): Promise<Added> {
  const names = [...Object.keys(input.jobs ?? {}), ...Object.keys(input.triggers ?? {})]
  const audits = [
    ...Object.keys(input.jobs ?? {}).map((name) => defined('job', name)),
    ...Object.keys(input.triggers ?? {}).map((name) => defined('trigger', name)),
  ]
  const audit = audits.length > mostAudits ? manyDefined(names) : audits
  const asked = { operation: 'add', target: names.join(', '), outcome: () => 'added', options: input, audit }
  const { addDefinitions } = await import('../definitions/definitions.js')
  const accept = definitions.addHandler.bind(definitions)
  return await change(asked, (store, now) => addDefinitions(store, { ...input, now, accept }))
}

function defined(kind: 'job' | 'trigger', name: string): AskedAudit {
  return { action: `${kind}.define`, subjects: [{ kind, name }] }
}
