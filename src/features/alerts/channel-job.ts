import type { Registry } from '../../engine/sync/registry.js'
import type { RunContext } from '../../engine/worker/perform.js'
import { deliveryRules } from '../../kernel/alert/delivery.js'
import { alertJobPrefix } from '../../kernel/alert/notice.js'
import type { Json } from '../../kernel/definition/json.js'
import { frozen } from '../../kernel/definition/frozen.js'
import { jobDefaults, type Job } from '../../kernel/job/job.js'
import type { Clock } from '../../time/clock.js'
import type { Channel } from './definition.js'
import { ownAlerts } from './own.js'

/** What the job of a channel can use of its app. */
export interface ChannelApp {
  readonly definitions: Registry
  readonly clock: Clock
  readonly directory: string
}

/** How long one attempt to send may take. */
const timeoutMs = 60_000

/** Defines a channel and the job whose runs send its messages. */
export function addChannel(
  defined: { readonly name: string; readonly channel: Channel },
  app: ChannelApp,
): void {
  const { name, channel } = defined
  const job: Job = { ...jobDefaults, name: `${alertJobPrefix}${name}`, ...deliveryRules, timeoutMs }
  app.definitions.addJob(frozen(job), (run: RunContext) => perform(defined, run, app))
  app.definitions.part(ownAlerts).channels.set(name, channel)
}

async function perform(
  defined: { readonly name: string; readonly channel: Channel },
  run: RunContext,
  { clock, directory }: ChannelApp,
): Promise<Json> {
  const { send } = await import('./send.js')
  const { messageIn } = await import('./message.js')
  return await send(messageIn(run.payload), defined, {
    clock,
    now: () => clock.now(),
    directory,
    environment: process.env,
    signal: run.signal,
    attempt: run.attempt,
    log: (text) => run.log(text),
  })
}
