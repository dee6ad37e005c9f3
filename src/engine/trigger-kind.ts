/**
 * The kinds of triggers. Every kind is one object: it decides where a new trigger begins, reads the facts that its
 * ticks need, plans them, and closes a version that was replaced. The scheduler, sync, why and coverage ask the kind of
 * a trigger and know none by name. Timed kinds are in `timed/`; features add the others.
 */
import type { Place } from '../kernel/definition/faults.js'
import type { Job } from '../kernel/job/job.js'
import type { RunOrigin } from '../kernel/run/run.js'
import type { Tick } from '../kernel/tick/tick.js'
import type { ScheduleSpec } from '../kernel/trigger/schedule.js'
import type { DueTrigger, StoredTrigger, Trigger } from '../kernel/trigger/trigger.js'
import type { DefineConflict, Store } from '../store/port.js'
import type { Instant } from '../time/instant.js'
import type { Schedule } from '../time/schedule.js'

/** One kind of trigger; `Facts` is the data that its ticks need besides the trigger. */
export interface TriggerKind<Facts = unknown> {
  readonly name: string
  /** The origin of the runs that its ticks create. */
  readonly origin: RunOrigin
  /** Whether each due instant is measured from the end of the previous run, and stored at that time. */
  readonly isChain?: boolean
  /** Whether it has only one due instant. */
  readonly isOneShot?: boolean
  /** The due instants, if they follow from the definition alone. */
  instants(trigger: Trigger): Schedule | undefined
  /** Whether the due instants depend on time zone rules, which change with updates of Node.js. */
  dependsOnZoneRules?(trigger: Trigger): boolean
  /** The definition in its stored form, for example with an anchor. */
  anchor?(trigger: Trigger, current: StoredTrigger | undefined, now: Instant): Trigger
  /** The cursor and the next look of a trigger that is new or has new due instants. */
  begin(trigger: Trigger, current: StoredTrigger | undefined, now: Instant): Start
  /** Reads the facts for the ticks of these triggers, by name; all of them are of this kind. */
  facts?(
    store: Store,
    due: readonly DueTrigger[],
    at: { readonly now: Instant; readonly startedAt: Instant },
  ): Promise<ReadonlyMap<string, Facts>>
  /** Plans a tick. Pure. Absent for a kind that a loop of its feature handles. */
  plan?(due: DueTrigger, facts: Facts, now: Instant): Tick
  /** The tick that closes a version: what is due under it by now. Absent if nothing is left to record. */
  close?(due: DueTrigger, facts: Facts, at: Closing): Tick | undefined
  /** Records why it does not fit its job. */
  checkJob?(trigger: Trigger, job: Job | undefined, place: Place): void
  /** Throws if triggers of a source contradict others in the store. */
  check?(store: Store, triggers: readonly Trigger[], replaces: (one: StoredTrigger) => boolean): Promise<void>
  /** The jobs among the conflicts that this source may share with their owners. */
  sharedJobs?(
    store: Store,
    conflicts: readonly DefineConflict[],
    source: { readonly name: string; readonly triggers: readonly Trigger[] },
  ): Promise<ReadonlySet<string>>
  /** When it is due, in a few words. */
  describe(trigger: Trigger): string
}

/** The cursor of a trigger, and its next look. */
export interface Start {
  readonly cursorAt: Instant
  readonly nextAt: Instant | undefined
}

/** When a version ends, and whether another one replaces it. */
export interface Closing {
  readonly now: Instant
  readonly isReplaced: boolean
}

/** The kinds of triggers that a process knows, by name. */
export type TriggerKinds = ReadonlyMap<string, TriggerKind>

/** The map of some kinds. */
export function kindsOf(kinds: Iterable<TriggerKind>): TriggerKinds {
  return new Map([...kinds].map((kind) => [kind.name, kind]))
}

/** The kind of a trigger. */
export function kindOf(kinds: TriggerKinds, trigger: Trigger): TriggerKind {
  const name = kindName(trigger)
  const kind = kinds.get(name)
  if (kind === undefined) throw new Error(`trigger ${trigger.name} is of the unknown kind ${name}`)
  return kind
}

/** When a trigger is due, in a few words; only the name of its kind if this process does not know the kind. */
export function describeTrigger(kinds: TriggerKinds, trigger: Trigger): string {
  const name = kindName(trigger)
  return kinds.get(name)?.describe(trigger) ?? name
}

function kindName({ round, schedule }: Trigger): string {
  return round === undefined ? schedule.kind : 'round'
}

/** The schedule of a trigger that must be of this kind. */
export function specOf<Kind extends ScheduleSpec['kind']>(
  { name, schedule }: Trigger,
  kind: Kind,
): Extract<ScheduleSpec, { kind: Kind }> {
  if (schedule.kind !== kind) throw new Error(`trigger ${name} is of the kind ${schedule.kind}, not ${kind}`)
  return schedule as Extract<ScheduleSpec, { kind: Kind }>
}

/** Reads the facts for the ticks of triggers, once for each kind. */
export async function factsOf(
  store: Store,
  due: readonly DueTrigger[],
  context: { readonly kinds: TriggerKinds; readonly now: Instant; readonly startedAt: Instant },
): Promise<ReadonlyMap<string, unknown>> {
  const byKind = new Map<TriggerKind, DueTrigger[]>()
  for (const one of due) {
    const kind = context.kinds.get(kindName(one.trigger))
    if (kind?.facts === undefined) continue
    const known = byKind.get(kind)
    if (known === undefined) byKind.set(kind, [one])
    else known.push(one)
  }
  const facts = new Map<string, unknown>()
  for (const [kind, triggers] of byKind) {
    for (const [name, found] of (await kind.facts?.(store, triggers, context)) ?? []) facts.set(name, found)
  }
  return facts
}
