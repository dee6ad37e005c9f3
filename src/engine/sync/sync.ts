import type { Instant } from '../../time/instant.js'
import { tzdataVersion } from '../../time/zone.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { fingerprintOf } from '../../kernel/identity/identity.js'
import type { Job, Queue } from '../../kernel/job/job.js'
import { closeRound } from '../../features/rounds/plan.js'
import type { Cycle } from '../../features/rounds/round.js'
import { isComputed, scheduleOf, type ScheduleSpec } from '../../kernel/trigger/schedule.js'
import { planTick } from '../../kernel/tick/tick.js'
import type { DueTrigger, StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { DefineTrigger, Store } from '../../store/port.js'
import { anchoredRound, refuseOtherIntervals, sharedServices } from '../../features/rounds/changes.js'
import { isRound, openCycles } from '../../features/rounds/facts.js'

/** The definitions of one source, entire. */
export interface Source {
  /** `code:<app>`, `config:<app>`, `plan:<path>` or `api`. */
  readonly name: string
  readonly jobs: readonly Job[]
  readonly queues: readonly Queue[]
  readonly triggers: readonly Trigger[]
  /** Hears which triggers vanished from the source before anything is written, and may throw. */
  readonly beforeEnding?: ((names: readonly string[]) => Promise<void>) | undefined
}

/** What a sync did, by name. */
export interface SyncReport {
  readonly defined: readonly string[]
  readonly changed: readonly string[]
  readonly ended: readonly string[]
  readonly unchanged: number
  /** Services that another program has defined too. */
  readonly shared?: readonly string[] | undefined
}

const chunk = 1000
const tries = 5

/** Makes the store's definitions of a source equal to these: what is new begins now, what vanished stops ticking and keeps its history. */
export async function sync(store: Store, source: Source, now: Instant): Promise<SyncReport> {
  await refuseOtherIntervals(store, source.triggers, (one) => one.source === source.name)
  const known = await store.fingerprints(source.name)
  const names = new Set(source.triggers.map((trigger) => trigger.name))
  const differing = source.triggers.filter((trigger) => {
    const before = known.get(trigger.name)
    return before === undefined || before !== fingerprint(trigger)
  })
  // Only what is known by now ends: whoever defines something at the same time keeps it.
  const vanished = [...known.keys()].filter((name) => !names.has(name))
  if (vanished.length > 0) await source.beforeEnding?.(vanished)
  const shared = await defineJobs(store, source, now)
  for (const part of chunks(differing)) await define(store, { source: source.name, triggers: part, now })
  for (const part of chunks(vanished)) await end(store, { source: source.name, names: part, now })
  return {
    defined: differing.filter((trigger) => !known.has(trigger.name)).map((trigger) => trigger.name),
    changed: differing.filter((trigger) => known.has(trigger.name)).map((trigger) => trigger.name),
    ended: vanished,
    unchanged: source.triggers.length - differing.length,
    ...(shared.size === 0 ? {} : { shared: [...shared] }),
  }
}

/** Writes jobs and queues; a name of another source is an error that names both, unless it is a service that they share. Gives the shared ones. */
export async function defineJobs(
  store: Store,
  source: Omit<Source, 'triggers'> & Partial<Pick<Source, 'triggers'>>,
  now: Instant,
): Promise<ReadonlySet<string>> {
  const { name, jobs, queues, triggers = [] } = source
  const conflicts = await store.defineJobs({ source: name, jobs, queues, now })
  if (conflicts.length === 0) return new Set()
  const shared = await sharedServices(store, conflicts, { name, triggers })
  const left = conflicts.filter((one) => !shared.has(one.name))
  if (left.length > 0) throw conflict('job', name, left)
  return shared
}

/** Ends the jobs that a source no longer defines: they stay for their runs, and any source may take their names. Gives their names. */
export async function endJobs(
  store: Store,
  { name: source, jobs }: Pick<Source, 'name' | 'jobs'>,
  now: Instant,
): Promise<readonly string[]> {
  const names = new Set(jobs.map(({ name }) => name))
  const vanished = (await store.jobs())
    .filter((one) => one.source === source && !names.has(one.job.name) && one.job.ended !== true)
    .map(({ job }): Job => ({ ...job, ended: true }))
  if (vanished.length === 0) return []
  // One that somebody else took meanwhile is a conflict, and stays with them.
  await store.defineJobs({ source, jobs: vanished, queues: [], now })
  return vanished.map(({ name }) => name)
}

/** Writes new and changed triggers of a source; where they have to be new, one that is there is a conflict and nothing is written. */
export async function define(
  store: Store,
  request: { source: string; triggers: readonly Trigger[]; now: Instant; isNew?: boolean },
): Promise<void> {
  const { source, now, isNew = false } = request
  const byName = new Map(request.triggers.map((trigger) => [trigger.name, trigger]))
  await write(store, { names: [...byName.keys()], now }, async ({ current, open, isAgain }) => {
    // Another process may be writing the same definitions: what stands already needs no second version.
    const known = isAgain ? await store.fingerprints(source) : undefined
    const cycles = await cyclesOf(store, current)
    const taken = isNew ? [...current.values()].filter((one) => one.active) : []
    if (taken.length > 0)
      throw conflict(
        'trigger',
        source,
        taken.map((one) => ({ name: one.trigger.name, source: one.source })),
      )
    return open.flatMap((name) => {
      const trigger = byName.get(name) as Trigger
      const isWritten = known !== undefined && known.get(name) === fingerprint(trigger)
      return isWritten
        ? []
        : [change({ current: current.get(name), cycle: cycles.get(name), trigger, source, now })]
    })
  })
}

/** Ends triggers: they stop ticking, their history stays. Waiting runs go on unless they are to be cancelled. */
export async function end(
  store: Store,
  request: { source: string; names: readonly string[]; now: Instant; cancelPending?: boolean },
): Promise<void> {
  const { source, now, cancelPending = false } = request
  await write(store, { names: request.names, now }, async ({ current, open }) =>
    open.flatMap((name) => {
      const one = current.get(name)
      return one?.active === true ? [ending(one, { source, now, cancelPending })] : []
    }),
  )
}

function ending(
  current: StoredTrigger | DueTrigger,
  end: { source: string; now: Instant; cancelPending: boolean },
): DefineTrigger {
  return {
    ...unchanged(current),
    ...end,
    name: current.trigger.name,
    trigger: undefined,
    fingerprint: '',
    closing: closingOf(current, { now: end.now, isReplaced: false }),
    cursorAt: Math.max(current.cursorAt, end.now),
    nextAt: undefined,
  }
}

/** Reads what stands, computes the changes, and writes them; what somebody else changed meanwhile is computed again. */
async function write(
  store: Store,
  { names, now }: { names: readonly string[]; now: Instant },
  compute: (state: {
    readonly current: ReadonlyMap<string, StoredTrigger | DueTrigger>
    readonly open: readonly string[]
    /** Whether somebody else changed these after they were first read. */
    readonly isAgain: boolean
  }) => Promise<DefineTrigger[]>,
): Promise<void> {
  let open = names
  for (let i = 0; i < tries && open.length > 0; i++) {
    const batch = await compute({ current: await read(store, open, now), open, isAgain: i > 0 })
    const answers = await store.defineTriggers(batch)
    const conflicts = batch.flatMap(({ name }, index) => {
      const answer = answers[index]
      return typeof answer === 'object' ? [{ name, source: answer.conflict }] : []
    })
    if (conflicts.length > 0) throw conflict('trigger', batch[0]?.source ?? '', conflicts)
    open = batch.filter((_, index) => answers[index] === 'stale').map(({ name }) => name)
  }
  if (open.length > 0) {
    throw new RotaError(
      'STORE_BUSY',
      `triggers kept changing while they were being defined: ${open.join(', ')}`,
    )
  }
}

async function read(
  store: Store,
  names: readonly string[],
  now: Instant,
): Promise<Map<string, StoredTrigger | DueTrigger>> {
  const stored = await store.triggers({ names })
  const active = stored.filter((one) => one.active).map((one) => one.trigger.name)
  const due = active.length === 0 ? [] : await store.dueByName({ names: active, now })
  return new Map([...stored, ...due].map((one) => [one.trigger.name, one]))
}

/** The open cycles of those that are rounds, by name. */
async function cyclesOf(
  store: Store,
  current: ReadonlyMap<string, StoredTrigger>,
): Promise<ReadonlyMap<string, Cycle>> {
  const rounds = [...current.values()].map(({ trigger }) => trigger).filter(isRound)
  if (rounds.length === 0) return new Map()
  return new Map([...(await openCycles(store, rounds))].map(([name, { value }]) => [name, value]))
}

/** The change that gives a trigger its new definition. Only a change of its schedule moves the cursor. */
function change(input: {
  current: StoredTrigger | DueTrigger | undefined
  cycle: Cycle | undefined
  trigger: Trigger
  source: string
  now: Instant
}): DefineTrigger {
  const { current, source, now } = input
  const trigger = anchored(input.trigger, current, now)
  const isContinued = current?.active === true && hasSameInstants(current.trigger, trigger)
  const isClosed = current?.active === true && !isContinued
  const closing = isClosed ? closingOf(current, { now, isReplaced: true, cycle: input.cycle }) : undefined
  const { cursorAt, nextAt } = isContinued ? continued(trigger, current) : begun(trigger, current, now)
  const { revision, tzdata } = unchanged(current)
  // Written out: with a hundred thousand of them, spreading others into it takes as long as all the rest.
  return {
    name: trigger.name,
    source,
    revision,
    now,
    trigger,
    fingerprint: fingerprint(input.trigger),
    tzdata,
    closing,
    cursorAt,
    nextAt,
    cancelPending: false,
  }
}

/** Where a trigger stands that goes on with the same due instants. */
function continued(trigger: Trigger, current: StoredTrigger): Pick<DefineTrigger, 'cursorAt' | 'nextAt'> {
  const { cursorAt } = current
  const isWorkedOut = current.nextAt !== undefined && isComputed(trigger.schedule)
  // Zone rules may have changed even though the text has not.
  return { cursorAt, nextAt: isWorkedOut ? scheduleOf(trigger.schedule).next(cursorAt) : current.nextAt }
}

/** Where a trigger begins whose due instants are new. */
function begun(
  { schedule, enabled }: Trigger,
  current: StoredTrigger | undefined,
  now: Instant,
): Pick<DefineTrigger, 'cursorAt' | 'nextAt'> {
  const cursorAt = wasPlanned(schedule, current) ? now : firstCursor(schedule, now)
  return { cursorAt, nextAt: enabled ? firstLook(schedule, cursorAt, now) : undefined }
}

function unchanged(current: StoredTrigger | undefined): { revision: number; tzdata: string } {
  return { revision: current?.revision ?? 0, tzdata: tzdataVersion() }
}

function closingOf(
  current: StoredTrigger | DueTrigger,
  { now, isReplaced, cycle }: { now: Instant; isReplaced: boolean; cycle?: Cycle | undefined },
): DefineTrigger['closing'] {
  if (!('jobDefinition' in current) || !current.trigger.enabled) return undefined
  if (isRound(current.trigger)) return closeRound(current, cycle, { now, isReplaced })
  const { schedule } = current.trigger
  if (schedule.kind === 'sensor' || schedule.kind === 'upstream') return undefined
  const isChain = schedule.kind === 'after-finish'
  if (isChain && (current.nextAt === undefined || current.nextAt > now)) return undefined
  return planTick(current, now)
}

/** The grid of an interval is anchored where it was first defined, also when its length changes. */
function anchored(trigger: Trigger, current: StoredTrigger | undefined, now: Instant): Trigger {
  const { schedule } = trigger
  if (isRound(trigger)) return anchoredRound(trigger, current, now)
  if (schedule.kind !== 'interval' || schedule.anchorAt !== undefined) return trigger
  const before = current?.trigger.schedule
  const anchorAt = before?.kind === 'interval' ? (before.anchorAt ?? now) : now
  return { ...trigger, schedule: { ...schedule, anchorAt } }
}

/** A one-shot that is overdue when it is defined is due at once; everything else begins now. */
function firstCursor(schedule: ScheduleSpec, now: Instant): Instant {
  if (schedule.kind === 'once') return Math.min(now, schedule.at - 1)
  // The anchor itself is due where the definition says so.
  return schedule.kind === 'interval' && schedule.immediate === true && schedule.anchorAt === now
    ? now - 1
    : now
}

/** A one-shot that vanishes and comes back is not due a second time, even if its run has been pruned. */
function wasPlanned(schedule: ScheduleSpec, current: StoredTrigger | undefined): boolean {
  const before = current?.trigger
  if (schedule.kind !== 'once' || before?.schedule.kind !== 'once' || !before.enabled) return false
  return before.schedule.at === schedule.at && (current?.cursorAt ?? -Infinity) >= schedule.at
}

function firstLook(schedule: ScheduleSpec, cursorAt: Instant, now: Instant): Instant | undefined {
  if (schedule.kind === 'after-finish') {
    return Math.max(schedule.startAt ?? 0, schedule.immediate === true ? now : now + schedule.everyMs)
  }
  // A sensor looks at once; so does what follows others, since something may have arrived for it under another definition.
  if (schedule.kind === 'sensor' || schedule.kind === 'upstream') return now
  return scheduleOf(schedule).next(cursorAt)
}

function hasSameInstants(before: Trigger, after: Trigger): boolean {
  return (
    before.enabled === after.enabled && JSON.stringify(before.schedule) === JSON.stringify(after.schedule)
  )
}

/** Changes with the definition, and with the zone rules where the instants depend on them. */
function fingerprint(trigger: Trigger): string {
  const { schedule } = trigger
  const dependsOnRules = schedule.kind === 'cron' && schedule.timezone !== 'UTC'
  return fingerprintOf(JSON.stringify([trigger, dependsOnRules ? tzdataVersion() : '']))
}

function conflict(
  what: string,
  source: string,
  conflicts: readonly { name: string; source: string }[],
): RotaError {
  if (conflicts.every((one) => one.source === source)) {
    const names = conflicts.map(({ name }) => name).join(', ')
    return new RotaError('DEFINITION_CONFLICT', `already defined: ${names}; nothing was changed`)
  }
  const list = conflicts.map((one) => `${what} ${one.name} is defined by ${one.source} already`).join('; ')
  return new RotaError('DEFINITION_CONFLICT', `${source} cannot define what another source owns: ${list}`)
}

function* chunks<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let i = 0; i < items.length; i += chunk) yield items.slice(i, i + chunk)
}
