import type { AppContext } from '../../features/app-context.js'
import type { DryRun } from '../../kernel/definition/dry-run.js'
import type { JobInput } from '../../kernel/job/define-job.js'
import type { TriggerInput } from '../../kernel/trigger/define-trigger.js'
import type { Added } from '../definitions/definitions.js'

/** Adds jobs and triggers at run time, all or none. */
export async function addAll(
  { store, now, tell, wake, definitions }: AppContext,
  input: {
    readonly jobs?: Readonly<Record<string, JobInput>> | undefined
    readonly triggers?: Readonly<Record<string, TriggerInput>> | undefined
    readonly replace?: boolean | undefined
  } & DryRun,
): Promise<Added> {
  const names = [...Object.keys(input.jobs ?? {}), ...Object.keys(input.triggers ?? {})]
  const { dryRun } = input
  const asked = { operation: 'add', target: names.join(', '), outcome: () => 'added', dryRun }
  const { addDefinitions } = await import('../definitions/definitions.js')
  const added = await tell(asked, async () =>
    addDefinitions(await store(), {
      ...input,
      now: now(),
      accept: (name, handler) => definitions.addHandler(name, handler),
    }),
  )
  wake()
  return added
}
