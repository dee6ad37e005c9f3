import type { StoredTrigger } from '../../../kernel/trigger/trigger.js'
import type { TriggersPage } from '../../overview.js'
import { FROM_TRIGGERS, storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from '../rows/trigger-rows.js'
import type { SqlValue } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

/** How many triggers are looked at in one go: others get their turn in between. */
const triggersPerLook = 5000

// Relies on: primary key.
const LOOK_END = `select max(name) from (
    select name from rota.triggers where name > $1 order by name limit ${triggersPerLook}
  ) looked`

/** A part of a page, and from where to go on if it is not the whole. */
export interface PagePart {
  readonly triggers: readonly StoredTrigger[]
  readonly next: TriggersPage | undefined
}

/** One page of triggers: by the index of the order, a bounded number of rows at a time. */
export function* triggersPage(session: Session, request: TriggersPage): Verb<PagePart> {
  if (request.order === 'next' || request.names !== undefined) {
    return { triggers: yield* select(session, request, undefined), next: undefined }
  }
  const end = yield* session.sql.value<string>(LOOK_END, request.after?.name ?? '')
  if (end === undefined) return { triggers: [], next: undefined }
  const triggers = yield* select(session, request, end)
  const limit = request.limit - triggers.length
  return { triggers, next: limit <= 0 ? undefined : { ...request, limit, after: { name: end } } }
}

function* select(
  session: Session,
  request: TriggersPage,
  untilName: string | undefined,
): Verb<StoredTrigger[]> {
  const { limit, order, after, search, names, jobs, source, active } = request
  const values: SqlValue[] = []
  const put = (bound: SqlValue): string => `$${values.push(bound)}`
  // Relies on: triggers_due for the order of the next tick, whose condition must be read word for word.
  const conditions = order === 'next' ? ['is_ticking = 1 and next_at is not null'] : []
  if (untilName !== undefined) conditions.push(`name <= ${put(untilName)}`)
  if (after !== undefined && order === 'name') conditions.push(`name > ${put(after.name)}`)
  if (after?.nextAt !== undefined && order === 'next') {
    const at = `${put(after.nextAt)}::int8`
    conditions.push(`(next_at > ${at} or (next_at = ${at} and name > ${put(after.name)}))`)
  }
  if (search !== undefined) conditions.push(`lower(name) like ${put(containing(search))} escape '!'`)
  if (names !== undefined) conditions.push(`name = any(${put(names)}::text[])`)
  if (jobs !== undefined) conditions.push(`job = any(${put(jobs)}::text[])`)
  if (source !== undefined) conditions.push(`source = ${put(source)}`)
  if (active !== undefined) conditions.push(`is_active = ${put(Number(active))}`)
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const by = order === 'next' ? 'next_at, name' : 'name'
  const sql = `select ${TRIGGER_COLUMNS} ${FROM_TRIGGERS} ${where} order by ${by} limit ${put(limit)}`
  return (yield* session.sql.all<TriggerRow>(sql, ...values)).map(storedTriggerOf)
}

/** The pattern for texts that contain this one; its own wildcards mean themselves. */
function containing(text: string): string {
  return `%${text.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`
}
