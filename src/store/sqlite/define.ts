import type { Trigger } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import type { DefineAnswer, DefineTrigger } from '../port.js'
import {
  hasDefinition,
  triggerValues,
  type Definition,
  type KnownTrigger,
} from '../sql/rows/trigger-values.js'
import { cancelPending } from './cancel.js'
import type { Session } from './session.js'
import { writeTick } from './tick.js'

// Relies on: primary key. The write lock closes the race of two sources for one name.
const KNOWN = `select source, version, revision, is_active from triggers where name = ?`

// Relies on: primary key.
const CLOSE_VERSION = `update versions set valid_until = ? where trigger = ? and version = ? and valid_until is null`

const OPEN_VERSION = `insert into versions (trigger, version, valid_from, tzdata, definition) values (?, ?, ?, ?, ?)`

const INSERT = `insert into triggers (source, job, fingerprint, version, revision, cursor_at, next_at, chain_ms,
    is_active, is_ticking, name, defined_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)`

// The tick that closes the version before may have raised the revision itself, by what the end of a run moves.
const REDEFINE = `update triggers set source = ?, job = ?, fingerprint = ?, version = ?,
    revision = max(?, revision + 1), cursor_at = ?,
    next_at = ?, chain_ms = ?, is_active = 1, is_ticking = ?
  where name = ?`

const FORGET_KEPT = `update triggers set kept_at = null where name = ?`

const END = `update triggers
  set is_active = 0, is_ticking = 0, revision = revision + 1, cursor_at = ?, next_at = null, kept_at = null
  where name = ?`

// Relies on: followers_trigger.
const UNFOLLOW = `delete from followers where trigger = ?`

const FOLLOW = `insert into followers (asset, trigger) values (?, ?) on conflict do nothing`

/** Writes or ends triggers, each with the tick that closes the version before it. */
export function defineTriggers(session: Session, batch: readonly DefineTrigger[]): DefineAnswer[] {
  return batch.map((item) => defineTrigger(session, item))
}

function defineTrigger(session: Session, item: DefineTrigger): DefineAnswer {
  const known = session.db.get<KnownTrigger>(KNOWN, item.name)
  if (known?.is_active === 1 && known.source !== item.source) return { conflict: known.source }
  if ((known?.revision ?? 0) !== item.revision) return 'stale'
  if (known !== undefined) change(session, item, known)
  else if (hasDefinition(item)) openFirst(session, item)
  return 'defined'
}

function openFirst(session: Session, item: Definition): void {
  openVersion(session, item, { version: 1, validFrom: item.cursorAt })
  followFor(session, item.trigger)
  session.db.change(INSERT, ...triggerValues(item, { version: 1, revision: 1 }), item.name, item.now)
}

function change(session: Session, item: DefineTrigger, known: KnownTrigger): void {
  const boundary = closeVersion(session, item, known)
  if (item.closing !== undefined) writeTick(session, item.closing)
  if (hasDefinition(item)) {
    const next = { version: known.version + 1, revision: known.revision + 1 }
    openVersion(session, item, { version: next.version, validFrom: boundary ?? item.cursorAt })
    session.db.change(REDEFINE, ...triggerValues(item, next), item.name)
    session.db.change(UNFOLLOW, item.name)
    followFor(session, item.trigger)
    if (item.closing !== undefined) session.db.change(FORGET_KEPT, item.name)
    return
  }
  session.db.change(END, item.cursorAt, item.name)
  session.db.change(UNFOLLOW, item.name)
  if (item.cancelPending) cancelPending(session, item.name, item.now)
}

/** Puts a trigger where the ends of what it follows find it. */
export function followFor(session: Session, { name, schedule }: Trigger): void {
  if (schedule.kind !== 'upstream') return
  for (const asset of schedule.assets) session.db.change(FOLLOW, asset, name)
}

/** Ends the version in force and answers where; a trigger that ended before has none. What was not planned belongs to no version. */
function closeVersion(session: Session, item: DefineTrigger, known: KnownTrigger): Instant | undefined {
  const closesNow = item.closing !== undefined || item.trigger === undefined
  const validUntil = closesNow ? item.now : item.cursorAt
  const closed = session.db.change(CLOSE_VERSION, validUntil, item.name, known.version) === 1
  return closed ? validUntil : undefined
}

function openVersion(
  session: Session,
  item: Definition,
  { version, validFrom }: { version: number; validFrom: Instant },
): void {
  session.db.change(OPEN_VERSION, item.name, version, validFrom, item.tzdata, JSON.stringify(item.trigger))
}
