import type { Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import { tzdataVersion } from '../../time/zone.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { fingerprintOf } from '../../kernel/identity/identity.js'
import type { Job, Queue } from '../../kernel/job/job.js'
import type { DueTrigger, StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { DefineTrigger, Store } from '../../store/port.js'
import { auditedSync, changedJobs } from './audit-sync.js'
import { watchPromises } from './promises.js'
import { dropQueues, rememberQueues } from './queues.js'
import { factsOf, kindOf, type Start, type TriggerKinds } from '../trigger-kind.js'

/** All definitions of one source. */
export interface Source {
  /** `code:<app>`, `config:<app>`, `plan:<path>` or `api`. */
  readonly name: string
  readonly jobs: readonly Job[]
  readonly queues: readonly Queue[]
  readonly triggers: readonly Trigger[]
  /** Called with the triggers that vanished from the source before anything is written; it may throw. */
  readonly beforeEnding?: ((names: readonly string[]) => Promise<void>) | undefined
}

/** The changes of a sync, by name. */
export interface SyncReport {
  readonly defined: readonly string[]
  readonly changed: readonly string[]
  readonly ended: readonly string[]
  readonly unchanged: number
  /** Services that another program has also defined. */
  readonly shared?: readonly string[] | undefined
}

/** The time of a sync, and the kinds of triggers. */
export interface SyncContext {
  readonly kinds: TriggerKinds
  readonly now: Instant
}

const chunk = 1000
const tries = 5

/** Makes the stored definitions of a source equal to these: new ones begin now, vanished ones stop and keep history. */
export async function sync(store: Store, source: Source, context: SyncContext): Promise<SyncReport> {
  const { kinds, now } = context
  for (const kind of kinds.values())
    await kind.check?.(store, source.triggers, (one) => one.source === source.name)
  const known = await store.fingerprints(source.name)
  const names = new Set(source.triggers.map((trigger) => trigger.name))
  const differing = source.triggers.filter((trigger) => {
    const before = known.get(trigger.name)
    return before === undefined || before !== fingerprint(trigger, kinds)
  })
  // Ends only definitions that were read above: one that is defined at the same time stays.
  const vanished = [...known.keys()].filter((name) => !names.has(name))
  if (vanished.length > 0) await source.beforeEnding?.(vanished)
  // Also for unchanged triggers: an earlier process may have died before it wrote their promises.
  await watchPromises(store, { triggers: source.triggers }, now)
  const jobs = await changedJobs(store, source.jobs)
  const triggers = differing.map(({ name }) => name)
  const audited = auditedSync(store, { source: source.name, jobs, triggers, vanished, now })
  await rememberQueues(store, source, now)
  const shared = await defineJobs(audited, { ...source, kinds }, now)
  await dropQueues(store, source, now)
  const own = { ...context, source: source.name }
  const [changed, fresh] = parted(differing, ({ name }) => known.has(name))
  const parts = inOrder(chunks(changed), chunks(fresh))
  const lane = async (): Promise<void> => {
    for (const triggers of parts) {
      const areUnknown = !known.has((triggers[0] as Trigger).name)
      await define(audited, { ...own, triggers, areUnknown })
    }
  }
  // While the store writes one part, the next one is computed. Where one fails, neither takes another.
  await Promise.all([lane(), lane()])
  for (const part of chunks(vanished)) await end(audited, { ...own, names: part })
  return {
    defined: fresh.map(({ name }) => name),
    changed: changed.map(({ name }) => name),
    ended: vanished,
    unchanged: source.triggers.length - differing.length,
    ...(shared.size === 0 ? {} : { shared: [...shared] }),
  }
}

/** Writes jobs and queues and returns the shared services; any other name of another source is an error. */
export async function defineJobs(
  store: Store,
  source: Omit<Source, 'triggers'> & Partial<Pick<Source, 'triggers'> & Pick<SyncContext, 'kinds'>>,
  now: Instant,
): Promise<ReadonlySet<string>> {
  const { name, jobs, queues, triggers = [], kinds = new Map() as TriggerKinds } = source
  await watchPromises(store, { jobs }, now)
  const conflicts = await store.defineJobs({ source: name, jobs, queues, now })
  if (conflicts.length === 0) return new Set()
  const shared = new Set<string>()
  for (const kind of kinds.values())
    for (const job of (await kind.sharedJobs?.(store, conflicts, { name, triggers })) ?? []) shared.add(job)
  const left = conflicts.filter((one) => !shared.has(one.name))
  if (left.length > 0) throw conflict('job', name, left)
  return shared
}

/** Ends and returns jobs that a source no longer defines: they stay for their runs, and the names become free. */
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
  // A job that another source took meanwhile is a conflict and stays theirs.
  await store.defineJobs({ source, jobs: vanished, queues: [], now })
  return vanished.map(({ name }) => name)
}

/** Writes new and changed triggers of a source. If they must be new, an existing one is a conflict. */
export async function define(
  store: Store,
  request: SyncContext & {
    source: string
    triggers: readonly Trigger[]
    isNew?: boolean
    /** Whether it is worth trying without reading them first: none of them is active, as far as is known. */
    areUnknown?: boolean
  },
): Promise<void> {
  const { source, kinds, now, isNew = false, areUnknown = false } = request
  const byName = new Map(request.triggers.map((trigger) => [trigger.name, trigger]))
  await watchPromises(store, request, now)
  await write(store, { names: [...byName.keys()], now, areUnknown }, async ({ current, open, isAgain }) => {
    // Another process may be writing the same definitions: a definition that is already stored needs no second version.
    const known = isAgain ? await store.fingerprints(source) : undefined
    const facts = await closingFacts(store, current, { source, kinds, now })
    const taken = isNew ? [...current.values()].filter((one) => one.active) : []
    if (taken.length > 0)
      throw conflict(
        'trigger',
        source,
        taken.map((one) => ({ name: one.trigger.name, source: one.source })),
      )
    return open.flatMap((name) => {
      const trigger = byName.get(name) as Trigger
      const isWritten = known !== undefined && known.get(name) === fingerprint(trigger, kinds)
      return isWritten
        ? []
        : [change({ current: current.get(name), facts: facts.get(name), trigger, source, kinds, now })]
    })
  })
}

/** Ends triggers: they stop ticking, their history stays. Waiting runs continue, unless the caller cancels them. */
export async function end(
  store: Store,
  request: SyncContext & { source: string; names: readonly string[]; cancelPending?: boolean },
): Promise<void> {
  const { source, kinds, now, cancelPending = false } = request
  await write(store, { names: request.names, now }, async ({ current, open }) => {
    const facts = await closingFacts(store, current, { source, kinds, now })
    return open.flatMap((name) => {
      const one = current.get(name)
      if (one?.active !== true) return []
      const at = changedAt(one, now)
      const closing = closingOf(one, facts.get(name), { source, kinds, now: at, isReplaced: false })
      return [ending(one, { source, now: at, cancelPending, closing })]
    })
  })
}

function ending(
  current: StoredTrigger | DueTrigger,
  end: Pick<DefineTrigger, 'source' | 'now' | 'cancelPending' | 'closing'>,
): DefineTrigger {
  return {
    ...unchanged(current),
    ...end,
    name: current.trigger.name,
    trigger: undefined,
    fingerprint: '',
    cursorAt: end.now,
    nextAt: undefined,
  }
}

/** Reads the stored triggers, computes the changes and writes them; repeats it for those that others changed. */
async function write(
  store: Store,
  { names, now, areUnknown = false }: { names: readonly string[]; now: Instant; areUnknown?: boolean },
  compute: (state: {
    readonly current: ReadonlyMap<string, StoredTrigger | DueTrigger>
    readonly open: readonly string[]
    /** Whether another process changed these after they were first read. */
    readonly isAgain: boolean
  }) => Promise<DefineTrigger[]>,
): Promise<void> {
  let open = names
  for (let i = 0; i < tries && open.length > 0; i++) {
    // The store refuses what is there after all, as it refuses what somebody else changed meanwhile.
    const current = areUnknown && i === 0 ? new Map<string, never>() : await read(store, open, now)
    const batch = await compute({ current, open, isAgain: i > 0 })
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

/** The facts for closing these versions, by name. */
async function closingFacts(
  store: Store,
  current: ReadonlyMap<string, StoredTrigger | DueTrigger>,
  { source, kinds, now }: SyncContext & { source: string },
): Promise<ReadonlyMap<string, unknown>> {
  const own = [...current.values()].filter((one): one is DueTrigger => isDue(one) && one.source === source)
  const closed = own.filter(({ trigger }) => kindOf(kinds, trigger).close !== undefined)
  return await factsOf(store, closed, { kinds, now, startedAt: now })
}

/** The change that gives a trigger its new definition. Only a change of its schedule moves the cursor. */
function change(input: {
  current: StoredTrigger | DueTrigger | undefined
  facts: unknown
  trigger: Trigger
  source: string
  kinds: TriggerKinds
  now: Instant
}): DefineTrigger {
  const { current, facts, source, kinds } = input
  const now = changedAt(current, input.now)
  const kind = kindOf(kinds, input.trigger)
  const trigger = kind.anchor?.(input.trigger, current, now) ?? input.trigger
  const isContinued = current?.active === true && hasSameInstants(current.trigger, trigger)
  const isClosed = current?.active === true && !isContinued
  const closing = isClosed ? closingOf(current, facts, { source, kinds, now, isReplaced: true }) : undefined
  const { cursorAt, nextAt } = isContinued
    ? continued(kind.instants(trigger), current)
    : kind.begin(trigger, current, now)
  const { revision, tzdata } = unchanged(current)
  // Without spreads: for a hundred thousand triggers they would take as long as everything else.
  return {
    name: trigger.name,
    source,
    revision,
    now,
    trigger,
    fingerprint: fingerprint(input.trigger, kinds),
    tzdata,
    closing,
    cursorAt,
    nextAt,
    cancelPending: false,
  }
}

/** When a definition changes. If another scheduler planned beyond `now`, the previous version is valid until there. */
function changedAt(current: StoredTrigger | undefined, now: Instant): Instant {
  return Math.max(now, current?.cursorAt ?? now)
}

/** The cursor and next look of a trigger whose due instants did not change. */
function continued(instants: Schedule | undefined, { cursorAt, nextAt }: StoredTrigger): Start {
  const isComputed = nextAt !== undefined && instants !== undefined
  // Zone rules may have changed although the definition has not.
  return { cursorAt, nextAt: isComputed ? instants.next(cursorAt) : nextAt }
}

function unchanged(current: StoredTrigger | undefined): { revision: number; tzdata: string } {
  return { revision: current?.revision ?? 0, tzdata: tzdataVersion() }
}

/** The tick that closes a version. For a trigger of another source the store returns a conflict. */
function closingOf(
  current: StoredTrigger | DueTrigger,
  facts: unknown,
  { source, kinds, ...at }: SyncContext & { source: string; isReplaced: boolean },
): DefineTrigger['closing'] {
  if (!isDue(current) || !current.trigger.enabled || current.source !== source) return undefined
  return kindOf(kinds, current.trigger).close?.(current, facts, at)
}

function isDue(current: StoredTrigger | DueTrigger): current is DueTrigger {
  return 'jobDefinition' in current
}

function hasSameInstants(before: Trigger, after: Trigger): boolean {
  return (
    before.enabled === after.enabled && JSON.stringify(before.schedule) === JSON.stringify(after.schedule)
  )
}

/** Changes with the definition, and with the zone rules if the instants depend on them. */
export function fingerprint(trigger: Trigger, kinds: TriggerKinds): string {
  const dependsOnRules = kindOf(kinds, trigger).dependsOnZoneRules?.(trigger) === true
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
  const list = conflicts.map((one) => `${what} ${one.name} is already defined by ${one.source}`).join('; ')
  return new RotaError('DEFINITION_CONFLICT', `${source} cannot define what another source owns: ${list}`)
}

function parted<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

function* inOrder<Item>(...lists: readonly Iterable<Item>[]): Generator<Item> {
  for (const list of lists) yield* list
}

function* chunks<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let i = 0; i < items.length; i += chunk) yield items.slice(i, i + chunk)
}
