import type { SeenKey } from '../../kernel/tick/tick.js'
import type { Instant } from '../../time/instant.js'
import type { Session } from './session.js'

// Relies on: primary key.
const SEEN = `select json_group_array(digest) from json_each(?2) wanted
  cross join seen on trigger = ?1 and digest = wanted.value where until_at is null or until_at > ?3`

const REMEMBER = `insert into seen (trigger, digest, until_at) values (?, ?, ?)
  on conflict (trigger, digest) do update set until_at = excluded.until_at`

const FORGET = `delete from seen where trigger = ?1 and digest in (
    select digest from seen where trigger = ?1 order by digest limit ?2
  )`

// Relies on: seen_until.
const FORGET_OVER = `delete from seen where (trigger, digest) in (
    select trigger, digest from seen where until_at <= ?1 order by until_at limit ?2
  )`

/** Those of the digests that a trigger remembers. */
export function seen(
  session: Session,
  request: { trigger: string; digests: readonly string[]; now: Instant },
): Set<string> {
  return new Set(
    session.db.json<string[]>(SEEN, request.trigger, JSON.stringify(request.digests), request.now),
  )
}

/** Remembers what a trigger has seen. */
export function remember(session: Session, trigger: string, keys: readonly SeenKey[]): void {
  for (const { digest, untilAt = null } of keys) session.db.change(REMEMBER, trigger, digest, untilAt)
}

/** Forgets what a trigger has seen, up to a bound. */
export function forgetSeen(session: Session, request: { trigger: string; limit: number }): number {
  return session.db.change(FORGET, request.trigger, request.limit)
}

/** Forgets what is over, up to a bound. */
export function forgetOver(session: Session, request: { now: Instant; limit: number }): void {
  session.db.change(FORGET_OVER, request.now, request.limit)
}
