import { RotaError } from '../model/errors.js'
import type { HoldTarget } from '../model/hold.js'
import type { Store } from '../store/store.js'
import { formatInstant, type Instant } from '../time/instant.js'

/** Who holds something back, why, and until when. */
export interface HoldOptions {
  readonly by?: string | undefined
  readonly note?: string | undefined
  /** It ends by itself then. */
  readonly until?: Date | undefined
}

/** Holds a target back; false where it is held already. */
export async function holdOn(
  store: Store,
  request: { target: HoldTarget; now: Instant } & HoldOptions,
): Promise<boolean> {
  const { target, now, by = 'api', note = '', until } = request
  await assertTarget(store, target)
  const untilAt = until?.getTime()
  if (untilAt !== undefined && !(untilAt > now)) {
    const when = Number.isNaN(untilAt) ? 'a Date that is invalid' : formatInstant(untilAt)
    throw new RotaError('DEFINITION_INVALID', `a hold cannot end at ${when}, which is not in the future`)
  }
  return (await store.hold({ target, now, untilAt, actor: by, note })) === 'held'
}

/** Lets a target go; false where nothing held it. */
export async function letGo(
  store: Store,
  request: { target: HoldTarget; now: Instant; catchUp: boolean },
): Promise<boolean> {
  await assertTarget(store, request.target)
  return (await store.release(request)) === 'released'
}

/** A misspelt name would hold nothing and seem to have worked. */
async function assertTarget(store: Store, target: HoldTarget): Promise<void> {
  const [kind, name = ''] = split(target)
  if (kind === 'trigger' && (await store.triggers({ names: [name] })).length === 0) {
    throw new RotaError('TRIGGER_UNKNOWN', `no trigger is named ${name}; \`rota list\` shows those there are`)
  }
  if (kind !== 'queue') return
  const queues = (await store.queues()).map((queue) => queue.name)
  if (!queues.includes(name)) {
    throw new RotaError('DEFINITION_INVALID', `no queue is named ${name}; there are: ${queues.join(', ')}`)
  }
}

function split(target: HoldTarget): [string, string | undefined] {
  const colon = target.indexOf(':')
  return colon === -1 ? [target, undefined] : [target.slice(0, colon), target.slice(colon + 1)]
}
