import { findTrigger } from '../../engine/sync/find-definition.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import type { DryRun } from '../../kernel/definition/dry-run.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../kernel/definition/faults.js'
import { readInstant, type InstantInput } from '../../kernel/definition/read-instant.js'
import type { HoldTarget } from '../../kernel/hold/hold.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import type { Store } from '../../store/port.js'
import { formatInstant, type Instant } from '../../time/instant.js'

/** Who makes a hold, why, and until when. Stored in the hold and in the audit. */
export interface HoldOptions extends ChangeOptions {
  /** When it ends. */
  readonly until?: InstantInput | undefined
}

/** Holds a target; false if it is already held. */
export async function holdOn(
  store: Store,
  request: { target: HoldTarget; now: Instant } & HoldOptions,
): Promise<boolean> {
  const { target, now, by = 'api', reason = '', until, dryRun } = request
  const place = placeOf()
  const untilAt = until === undefined ? undefined : readInstant(until, within(place, 'until'))
  checkText(by, longest.by, within(place, 'by'))
  checkText(reason, longest.reason, within(place, 'reason'))
  if (untilAt !== undefined && untilAt <= now) {
    fault(within(place, 'until'), `${formatInstant(untilAt)} is not in the future`)
  }
  refuse('the hold', place.faults)
  await assertTarget(store, target)
  if (dryRun === true) return !(await isHeld(store, target, now))
  return (await store.hold({ target, now, untilAt, actor: by, note: reason })) === 'held'
}

/** Lists of holds show both, so they must stay short. */
const longest = { by: 256, reason: 4096 } as const

function checkText(text: unknown, most: number, place: Place): void {
  if (typeof text === 'string' && text.length <= most) return
  const message =
    typeof text === 'string' ? `it has ${text.length} characters` : `${shown(text)} is not a text`
  fault(place, message, `a text of at most ${most} characters`)
}

/** Ends the hold on a target; false if there was none. */
export async function letGo(
  store: Store,
  request: { target: HoldTarget; now: Instant; catchUp: boolean } & DryRun,
): Promise<boolean> {
  const { target, now, catchUp, dryRun } = request
  await assertTarget(store, target)
  if (dryRun === true) return await isHeld(store, target, now)
  return (await store.release({ target, now, catchUp })) === 'released'
}

async function isHeld(store: Store, target: HoldTarget, now: Instant): Promise<boolean> {
  return (await store.holds({ target, openAt: now })).length > 0
}

/** Refuses an unknown name: a hold on it would have no effect and seem to have worked. */
async function assertTarget(store: Store, target: HoldTarget): Promise<void> {
  const [kind, name = ''] = split(target)
  if (kind === 'trigger') await findTrigger(store, name)
  if (kind !== 'queue') return
  const queues = (await store.queues()).map((queue) => queue.name)
  if (!queues.includes(name)) {
    const list = 'rota list --queues'
    throw new RotaError('DEFINITION_INVALID', noneNamed('queue is named', name, { known: queues, list }))
  }
}

function split(target: HoldTarget): [string, string | undefined] {
  const colon = target.indexOf(':')
  return colon === -1 ? [target, undefined] : [target.slice(0, colon), target.slice(colon + 1)]
}
