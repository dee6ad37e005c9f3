import type { Trigger } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import type { DefineAnswer, DefineTrigger } from '../port.js'
import {
  chainMs,
  hasDefinition,
  tickingCode,
  triggerValues,
  type Definition,
  type KnownTrigger,
} from '../sql/rows/trigger-values.js'
import { cancelPending } from './cancel.js'
import type { Session } from './session.js'
import { writeTick } from './tick.js'

// Relies on: primary key. Being alone closes the race of two sources for one name.
const KNOWN = `select name, source, version, revision, is_active from rota.triggers where name = any($1::text[])`

// Relies on: primary key.
const CLOSE_VERSION = `update rota.versions set valid_until = $1
  where trigger = $2 and version = $3 and valid_until is null`

const OPEN_VERSION = `insert into rota.versions (trigger, version, valid_from, tzdata, definition)
  values ($1, $2, $3, $4, $5)`

const INSERT = `insert into rota.triggers (source, job, fingerprint, version, revision, cursor_at, next_at, chain_ms,
    is_active, is_ticking, name, defined_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10, $11)`

// New ones go in together: a start with very many triggers would otherwise ask for each of them.
const INSERT_MANY = `with given as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int8[], $6::int8[], $7::int8[], $8::int8[],
      $9::int8[], $10::text[], $11::text[])
      given (name, source, job, fingerprint, cursor_at, next_at, chain_ms, is_ticking, defined_at, tzdata, definition)
  ), opened as (
    insert into rota.versions (trigger, version, valid_from, tzdata, definition)
    select name, 1, cursor_at, tzdata, definition from given
  )
  insert into rota.triggers (name, source, job, fingerprint, version, revision, cursor_at, next_at, chain_ms, is_active,
    is_ticking, defined_at)
  select name, source, job, fingerprint, 1, 1, cursor_at, next_at, chain_ms, 1, is_ticking, defined_at from given`

// The tick that closes the version before may have raised the revision itself, by what the end of a run moves.
const REDEFINE = `update rota.triggers set source = $1, job = $2, fingerprint = $3, version = $4,
    revision = greatest($5, revision + 1), cursor_at = $6, next_at = $7, chain_ms = $8, is_active = 1, is_ticking = $9
  where name = $10`

const FORGET_KEPT = `update rota.triggers set kept_at = null where name = $1`

const END = `update rota.triggers
  set is_active = 0, is_ticking = 0, revision = revision + 1, cursor_at = $1, next_at = null, kept_at = null
  where name = $2`

// Relies on: followers_trigger.
const UNFOLLOW = `delete from rota.followers where trigger = $1`

const FOLLOW = `insert into rota.followers (asset, trigger) select asset, $2 from unnest($1::text[]) asset
  on conflict do nothing`

/** Writes or ends triggers, each with the tick that closes the version before it. */
export async function defineTriggers(
  session: Session,
  batch: readonly DefineTrigger[],
): Promise<DefineAnswer[]> {
  session.beExclusive()
  session.hasNews = true
  const names = batch.map(({ name }) => name)
  const areDistinct = new Set(names).size === names.length
  const known = await knownOf(session, names)
  if (areDistinct && known.size === 0 && batch.every(isFirst)) return await openAll(session, batch)
  const answers: DefineAnswer[] = []
  for (const item of batch) {
    const current = areDistinct ? known.get(item.name) : (await knownOf(session, [item.name])).get(item.name)
    answers.push(await defineTrigger(session, item, current))
  }
  return answers
}

async function knownOf(session: Session, names: readonly string[]): Promise<Map<string, KnownTrigger>> {
  const rows = await session.db.all<KnownTrigger & { name: string }>(KNOWN, names)
  return new Map(rows.map((row) => [row.name, row]))
}

function isFirst(item: DefineTrigger): item is Definition {
  return hasDefinition(item) && item.revision === 0 && item.trigger.schedule.kind !== 'upstream'
}

async function openAll(session: Session, batch: readonly Definition[]): Promise<DefineAnswer[]> {
  const column = <T>(of: (item: Definition) => T): T[] => batch.map(of)
  await session.db.change(
    INSERT_MANY,
    column(({ name }) => name),
    column(({ source }) => source),
    column(({ trigger }) => trigger.job),
    column(({ fingerprint }) => fingerprint),
    column(({ cursorAt }) => cursorAt),
    column(({ nextAt = null }) => nextAt),
    column(({ trigger }) => chainMs(trigger)),
    column(({ trigger }) => tickingCode(trigger)),
    column(({ now }) => now),
    column(({ tzdata }) => tzdata),
    column(({ trigger }) => JSON.stringify(trigger)),
  )
  return batch.map(() => 'defined')
}

async function defineTrigger(
  session: Session,
  item: DefineTrigger,
  known: KnownTrigger | undefined,
): Promise<DefineAnswer> {
  if (known?.is_active === 1 && known.source !== item.source) return { conflict: known.source }
  if ((known?.revision ?? 0) !== item.revision) return 'stale'
  if (known !== undefined) await change(session, item, known)
  else if (hasDefinition(item)) await openFirst(session, item)
  return 'defined'
}

async function openFirst(session: Session, item: Definition): Promise<void> {
  await openVersion(session, item, { version: 1, validFrom: item.cursorAt })
  await followFor(session, item.trigger)
  await session.db.change(INSERT, ...triggerValues(item, { version: 1, revision: 1 }), item.name, item.now)
}

async function change(session: Session, item: DefineTrigger, known: KnownTrigger): Promise<void> {
  const { db } = session
  const boundary = await closeVersion(session, item, known)
  if (item.closing !== undefined) await writeTick(session, item.closing)
  if (hasDefinition(item)) {
    const next = { version: known.version + 1, revision: known.revision + 1 }
    await openVersion(session, item, { version: next.version, validFrom: boundary ?? item.cursorAt })
    await db.change(REDEFINE, ...triggerValues(item, next), item.name)
    await db.change(UNFOLLOW, item.name)
    await followFor(session, item.trigger)
    if (item.closing !== undefined) await db.change(FORGET_KEPT, item.name)
    return
  }
  await db.change(END, item.cursorAt, item.name)
  await db.change(UNFOLLOW, item.name)
  if (item.cancelPending) await cancelPending(session, item.name, item.now)
}

/** Puts a trigger where the ends of what it follows find it. */
export async function followFor(session: Session, { name, schedule }: Trigger): Promise<void> {
  if (schedule.kind === 'upstream') await session.db.change(FOLLOW, [...new Set(schedule.assets)], name)
}

/** Ends the version in force and answers where; a trigger that ended before has none. What was not planned belongs to no version. */
async function closeVersion(
  session: Session,
  item: DefineTrigger,
  known: KnownTrigger,
): Promise<Instant | undefined> {
  const closesNow = item.closing !== undefined || item.trigger === undefined
  const validUntil = closesNow ? item.now : item.cursorAt
  const closed = await session.db.change(CLOSE_VERSION, validUntil, item.name, known.version)
  return closed === 1 ? validUntil : undefined
}

async function openVersion(
  session: Session,
  item: Definition,
  { version, validFrom }: { version: number; validFrom: Instant },
): Promise<void> {
  await session.db.change(
    OPEN_VERSION,
    item.name,
    version,
    validFrom,
    item.tzdata,
    JSON.stringify(item.trigger),
  )
}
