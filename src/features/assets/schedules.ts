import { storedCalendars } from '../../engine/sync/calendars.js'
import { pastSchedules } from '../../engine/sync/past-schedules.js'
import { define, end } from '../../engine/sync/sync.js'
import { isAsset } from '../../kernel/partition/asset.js'
import { kindOf } from '../../engine/trigger-kind.js'
import { readTrigger, type TriggerInput } from '../../kernel/trigger/define-trigger.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { placeOf } from '../../kernel/definition/faults.js'
import type { PartitionRule } from '../../kernel/partition/rule.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { isTimed } from './status.js'
import { unknownAsset } from './check.js'
import { timedKinds } from '../../engine/timed/kinds.js'

/** A schedule of an asset. */
export interface AssetSchedule {
  readonly name: string
  readonly asset: string
  readonly cron: string | undefined
  readonly timezone: string
  readonly partition: PartitionRule | undefined
  readonly enabled: boolean
  readonly nextAt: Instant | undefined
  readonly source: string
}

/** The source of what is defined at run time. */
const api = 'api'

/** Defines when an asset is due, at run time; the same name again replaces it. */
export async function defineSchedule(
  store: Store,
  { name, input, now }: { readonly name: string; readonly input: TriggerInput; readonly now: Instant },
): Promise<void> {
  const assets = (await store.jobs()).map(({ job }) => job).filter(isAsset)
  const job = assets.find((one) => one.name === input.job)
  if (job === undefined)
    throw unknownAsset(
      name,
      input.job,
      assets.map((one) => one.name),
    )
  const [taken] = await store.triggers({ names: [name], active: true })
  const isSchedule =
    taken === undefined || (isTimed(taken.trigger) && assets.some((one) => one.name === taken.trigger.job))
  if (!isSchedule)
    throw new RotaError(
      'DEFINITION_CONFLICT',
      `${name} is already a trigger that is not a schedule of an asset`,
    )
  const place = placeOf()
  const trigger = readTrigger(
    { name, input, asset: job.asset, defaults: { calendars: await storedCalendars(store) } },
    place,
  )
  if (trigger !== undefined) kindOf(timedKinds, trigger).checkJob?.(trigger, job, place)
  refuse(`schedule ${name}`, place.faults)
  refuse(`schedule ${name}`, await pastSchedules(store, [trigger as Trigger], now))
  await define(store, { kinds: timedKinds, source: api, triggers: [trigger as Trigger], now })
}

/** Ends a schedule of an asset; runs that are due already continue. */
export async function endSchedule(
  store: Store,
  request: { readonly name: string; readonly own: string; readonly now: Instant },
): Promise<{ readonly removed: boolean }> {
  const { name, own, now } = request
  const [stored] = await store.triggers({ names: [name] })
  if (stored === undefined || !stored.active) return { removed: false }
  const { source, trigger } = stored
  if (source !== api && source !== own) {
    throw new RotaError('DEFINITION_CONFLICT', `schedule ${name} is defined by ${source}; remove it there`)
  }
  if (!isTimed(trigger) || !(await isOfAsset(store, trigger))) {
    throw new RotaError('TRIGGER_UNKNOWN', `${name} is a trigger, but not a schedule of an asset`)
  }
  await end(store, { kinds: timedKinds, source, names: [name], now })
  return { removed: true }
}

/** The schedules of assets: those in the store, and those that the start will write. */
export async function listSchedules(
  store: Store,
  { planned, source }: { readonly planned: readonly Trigger[]; readonly source: string },
): Promise<readonly AssetSchedule[]> {
  const assets = new Set(
    (await store.jobs())
      .map(({ job }) => job)
      .filter(isAsset)
      .map(({ name }) => name),
  )
  const stored = (await store.triggers()).filter(
    ({ trigger, active }) => active && isTimed(trigger) && assets.has(trigger.job),
  )
  const known = new Set(stored.map(({ trigger }) => trigger.name))
  return [
    ...stored.map((one) => viewOf(one.trigger, one)),
    ...planned.filter(({ name }) => !known.has(name)).map((trigger) => viewOf(trigger, { source })),
  ].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

function viewOf(
  { name, job, schedule, partition, enabled }: Trigger,
  { source, nextAt }: { readonly source: string; readonly nextAt?: Instant | undefined },
): AssetSchedule {
  return {
    name,
    asset: job,
    cron: schedule.kind === 'cron' ? schedule.expression : undefined,
    timezone: schedule.kind === 'cron' ? schedule.timezone : 'UTC',
    partition,
    enabled,
    nextAt,
    source,
  }
}

async function isOfAsset(store: Store, trigger: Trigger): Promise<boolean> {
  return (await store.jobs()).some(({ job }) => job.name === trigger.job && isAsset(job))
}
