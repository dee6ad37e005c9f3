import type { StoredTrigger } from '../../../kernel/trigger/trigger.js'
import type { TriggersPage } from '../../overview.js'
import { FROM_TRIGGERS, storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from '../rows/trigger-rows.js'
import type { SqlValue } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

/** How many triggers one step reads: other work continues in between. */
const triggersPerLook = 5000

// Relies on: primary key.
const LOOK_END = `select max(name) from (
    select name from rota.triggers where name > $1 order by name limit ${triggersPerLook}
  ) looked`

// Relies on: primary key.
const LOOK_START = `select min(name) from (
    select name from rota.triggers where name < $1 order by name desc limit ${triggersPerLook}
  ) looked`

/** A part of a page, and where to continue if there is more. */
export interface PagePart {
  readonly triggers: readonly StoredTrigger[]
  readonly next: TriggersPage | undefined
}

/** One page of triggers: by the index of the order, a bounded number of rows at a time. */
export function* triggersPage(session: Session, request: TriggersPage): Verb<PagePart> {
  const isOfSource = request.source !== undefined && request.active === true
  if (request.order === 'next' || request.names !== undefined || isOfSource) {
    return { triggers: yield* select(session, request, undefined), next: undefined }
  }
  const { before, after } = request
  const name = yield* before === undefined
    ? session.sql.value<string>(LOOK_END, after?.name ?? '')
    : session.sql.value<string>(LOOK_START, before.name)
  if (name === undefined) return { triggers: [], next: undefined }
  const triggers = yield* select(session, request, name)
  const limit = request.limit - triggers.length
  const rest = before === undefined ? { after: { name } } : { before: { name } }
  return { triggers, next: limit <= 0 ? undefined : { ...request, limit, ...rest } }
}

function* select(
  session: Session,
  request: TriggersPage,
  lookedTo: string | undefined,
): Verb<StoredTrigger[]> {
  const { limit, order, after, before, search, names, jobs, source, active } = request
  const values: SqlValue[] = []
  const put = (bound: SqlValue): string => `$${values.push(bound)}`
  // Relies on: triggers_due for the order of the next tick, whose condition must be read word for word.
  const conditions = order === 'next' ? ['is_ticking = 1 and next_at is not null'] : []
  const isBack = before !== undefined
  if (lookedTo !== undefined) conditions.push(`name ${isBack ? '>=' : '<='} ${put(lookedTo)}`)
  for (const [cursor, is] of [
    [after, '>'],
    [before, '<'],
  ] as const) {
    if (cursor !== undefined && order === 'name') conditions.push(`name ${is} ${put(cursor.name)}`)
    if (cursor?.nextAt === undefined || order === 'name') continue
    const at = `${put(cursor.nextAt)}::int8`
    conditions.push(`(next_at ${is} ${at} or (next_at = ${at} and name ${is} ${put(cursor.name)}))`)
  }
  if (search !== undefined) conditions.push(`lower(name) like ${put(containing(search))} escape '!'`)
  if (names !== undefined) conditions.push(`name = any(${put(names)}::text[])`)
  if (jobs !== undefined) conditions.push(`job = any(${put(jobs)}::text[])`)
  if (source !== undefined) conditions.push(`source = ${put(source)}`)
  // A bound value would not match the condition of triggers_fingerprint, which finds the active ones of a source.
  if (active !== undefined) conditions.push(`is_active = ${Number(active)}`)
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const direction = isBack ? 'desc' : 'asc'
  const by = order === 'next' ? `next_at ${direction}, name ${direction}` : `name ${direction}`
  const sql = `select ${TRIGGER_COLUMNS} ${FROM_TRIGGERS} ${where} order by ${by} limit ${put(limit)}`
  const found = (yield* session.sql.all<TriggerRow>(sql, ...values)).map(storedTriggerOf)
  return isBack ? found.toReversed() : found
}

/** The pattern for texts that contain this one; its own wildcards are escaped. */
function containing(text: string): string {
  return `%${text.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`
}
