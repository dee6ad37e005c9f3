import { followedAssets, type Trigger } from '../../../kernel/trigger/trigger.js'
import type { Instant } from '../../../time/instant.js'
import type { DefineAnswer, DefineTrigger } from '../../port.js'
import { hasDefinition, triggerValues, type Definition, type KnownTrigger } from '../rows/trigger-values.js'
import { cancelPending } from '../runs/cancel.js'
import type { Session } from '../session.js'
import { insertInto } from '../statement.js'
import type { Verb } from '../verb.js'
import { writeTick } from './tick.js'

// Relies on: primary key. Exclusive access closes the race of two sources for one name.
const KNOWN = `select name, source, version, revision, is_active from rota.triggers where name = any($1::text[])`

// Relies on: primary key.
const CLOSE_VERSION = `update rota.versions set valid_until = $1
  where trigger = $2 and version = $3 and valid_until is null`

const OPEN_VERSIONS = insertInto('rota.versions', {
  trigger: 'text',
  version: 'int4',
  valid_from: 'int8',
  tzdata: 'text',
  definition: 'text',
})

const INSERT = insertInto('rota.triggers', {
  source: 'text',
  job: 'text',
  fingerprint: 'text',
  version: 'int4',
  revision: 'int8',
  cursor_at: 'int8',
  next_at: 'int8',
  chain_ms: 'int8',
  is_ticking: 'int2',
  is_active: 'int2',
  name: 'text',
  defined_at: 'int8',
})

// The tick that closes the previous version may have increased the revision, by the end effect of a run.
const REDEFINE = `update rota.triggers set source = $1, job = $2, fingerprint = $3, version = $4,
    revision = greatest($5, revision + 1), cursor_at = $6, next_at = $7, chain_ms = $8, is_active = 1, is_ticking = $9
  where name = $10`

const FORGET_KEPT = `update rota.triggers set kept_at = null where name = $1`

const END = `update rota.triggers
  set is_active = 0, is_ticking = 0, revision = revision + 1, cursor_at = $1, next_at = null, kept_at = null
  where name = $2`

// Relies on: followers_trigger.
const REMOVE_FOLLOWER = `delete from rota.followers where trigger = $1`

const FOLLOW = insertInto('rota.followers', { asset: 'text', trigger: 'text' }, 'on conflict do nothing')

/** Writes or ends triggers, each with the tick that closes its previous version. */
export function* defineTriggers(session: Session, batch: readonly DefineTrigger[]): Verb<DefineAnswer[]> {
  session.beExclusive()
  session.tell('anything')
  const names = batch.map(({ name }) => name)
  const areDistinct = new Set(names).size === names.length
  const known = yield* knownOf(session, names)
  // New ones are inserted together: otherwise a start with very many triggers would need a statement for each.
  if (areDistinct && known.size === 0 && batch.every(isFirst)) {
    yield* openFirst(session, batch)
    return batch.map(() => 'defined')
  }
  const answers: DefineAnswer[] = []
  for (const item of batch) {
    const current = areDistinct ? known.get(item.name) : (yield* knownOf(session, [item.name])).get(item.name)
    answers.push(yield* defineTrigger(session, item, current))
  }
  return answers
}

function* knownOf(session: Session, names: readonly string[]): Verb<Map<string, KnownTrigger>> {
  const rows = yield* session.sql.all<KnownTrigger & { name: string }>(KNOWN, names)
  return new Map(rows.map((row) => [row.name, row]))
}

function isFirst(item: DefineTrigger): item is Definition {
  return hasDefinition(item) && item.revision === 0
}

function* defineTrigger(
  session: Session,
  item: DefineTrigger,
  known: KnownTrigger | undefined,
): Verb<DefineAnswer> {
  if (known?.is_active === 1 && known.source !== item.source) return { conflict: known.source }
  if ((known?.revision ?? 0) !== item.revision) return 'stale'
  if (known !== undefined) yield* redefine(session, item, known)
  else if (hasDefinition(item)) yield* openFirst(session, [item])
  return 'defined'
}

function* openFirst(session: Session, batch: readonly Definition[]): Verb<void> {
  const first = { version: 1, revision: 1 }
  yield* session.sql.together(
    openVersions(
      session,
      batch.map((item) => ({ item, version: 1, validFrom: item.cursorAt })),
    ),
    writeFollowers(session, ...batch.map(({ trigger }) => trigger)),
    session.sql.insert(
      INSERT,
      batch.map((item) => [...triggerValues(item, first), 1, item.name, item.now]),
    ),
  )
}

function* redefine(session: Session, item: DefineTrigger, known: KnownTrigger): Verb<void> {
  const boundary = yield* closeVersion(session, item, known)
  if (item.closing !== undefined) yield* writeTick(session, item.closing)
  if (hasDefinition(item)) {
    const next = { version: known.version + 1, revision: known.revision + 1 }
    yield* openVersions(session, [{ item, version: next.version, validFrom: boundary ?? item.cursorAt }])
    yield* session.sql.change(REDEFINE, ...triggerValues(item, next), item.name)
    yield* session.sql.change(REMOVE_FOLLOWER, item.name)
    yield* writeFollowers(session, item.trigger)
    if (item.closing !== undefined) yield* session.sql.change(FORGET_KEPT, item.name)
    return
  }
  yield* session.sql.change(END, item.cursorAt, item.name)
  yield* session.sql.change(REMOVE_FOLLOWER, item.name)
  if (item.cancelPending) yield* cancelPending(session, item.name, item.now)
}

/** Makes triggers followers of their upstream assets. */
export function writeFollowers(session: Session, ...triggers: readonly Trigger[]): Verb<number> {
  const rows = triggers.flatMap(({ name, schedule }) =>
    followedAssets(schedule).map((asset) => [asset, name]),
  )
  return session.sql.insert(FOLLOW, rows)
}

/** Ends the version in force, if any, and returns its end. Unplanned instants belong to no version. */
function* closeVersion(
  session: Session,
  item: DefineTrigger,
  known: KnownTrigger,
): Verb<Instant | undefined> {
  const closesNow = item.closing !== undefined || item.trigger === undefined
  const validUntil = closesNow ? item.now : item.cursorAt
  const closed = yield* session.sql.change(CLOSE_VERSION, validUntil, item.name, known.version)
  return closed === 1 ? validUntil : undefined
}

function openVersions(
  session: Session,
  versions: readonly { item: Definition; version: number; validFrom: Instant }[],
): Verb<number> {
  const rows = versions.map(({ item, version, validFrom }) => {
    return [item.name, version, validFrom, item.tzdata, JSON.stringify(item.trigger)]
  })
  return session.sql.insert(OPEN_VERSIONS, rows)
}
