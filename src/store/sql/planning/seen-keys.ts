import type { SeenKey } from '../../../kernel/tick/tick.js'
import type { Instant } from '../../../time/instant.js'
import { each, insertInto } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

// Relies on: primary key, looked up once for each digest. Otherwise SQLite might scan all digests of a trigger.
const SEEN = each({
  sqlite: `select digest from json_each($2) wanted cross join seen
    where trigger = $1 and digest = wanted.value and (until_at is null or until_at > $3)`,
  postgres: `select digest from rota.seen where trigger = $1 and digest = any($2::text[])
    and (until_at is null or until_at > $3)`,
})

const REMEMBER = insertInto(
  'rota.seen',
  { trigger: 'text', digest: 'text', until_at: 'int8' },
  `on conflict (trigger, digest) do update set until_at = excluded.until_at`,
)

// Relies on: primary key, as a range.
const FORGET = `delete from rota.seen where trigger = $1 and digest <= (
    select max(digest) from (select digest from rota.seen where trigger = $1 order by digest limit $2) first
  )`

// Relies on: seen_until. The condition is repeated for the case that a tick sees one of them again meanwhile.
const FORGET_OVER = `delete from rota.seen where until_at <= $1 and (trigger, digest) in (
    select trigger, digest from rota.seen where until_at <= $1 order by until_at limit $2
  )`

/** The given digests that a trigger has seen. */
export function* seen(
  session: Session,
  request: {
    trigger: string
    digests: readonly string[]
    now: Instant
  },
): Verb<Set<string>> {
  const rows = yield* session.sql.all<{ digest: string }>(SEEN, request.trigger, request.digests, request.now)
  return new Set(rows.map(({ digest }) => digest))
}

/** Stores digests that a trigger has seen. */
export function* remember(session: Session, trigger: string, keys: readonly SeenKey[]): Verb<void> {
  // A Postgres statement can write a row only once, so of two with one digest the later one counts.
  const last = new Map(keys.map(({ digest, untilAt = null }) => [digest, untilAt]))
  yield* session.sql.insert(
    REMEMBER,
    [...last].map(([digest, untilAt]) => [trigger, digest, untilAt]),
  )
}

/** Removes digests of a trigger, up to a limit. */
export function* forgetSeen(session: Session, request: { trigger: string; limit: number }): Verb<number> {
  return yield* session.sql.change(FORGET, request.trigger, request.limit)
}

/** Removes expired digests, up to a limit. */
export function* forgetExpired(session: Session, request: { now: Instant; limit: number }): Verb<void> {
  yield* session.sql.change(FORGET_OVER, request.now, request.limit)
}
