import type { SeenKey } from '../../kernel/tick/tick.js'
import type { Instant } from '../../time/instant.js'
import type { Session } from './session.js'

// Relies on: primary key.
const SEEN = `select digest from rota.seen where trigger = $1 and digest = any($2::text[])
  and (until_at is null or until_at > $3)`

const REMEMBER = `insert into rota.seen (trigger, digest, until_at)
  select $1, digest, until_at from unnest($2::text[], $3::int8[]) given (digest, until_at)
  on conflict (trigger, digest) do update set until_at = excluded.until_at`

const FORGET = `delete from rota.seen where trigger = $1 and digest = any(array(
    select digest from rota.seen where trigger = $1 order by digest limit $2
  ))`

// Relies on: seen_until.
const FORGET_OVER = `delete from rota.seen where (trigger, digest) in (
    select trigger, digest from rota.seen where until_at <= $1 order by until_at limit $2
  )`

/** Those of the digests that a trigger remembers. */
export async function seen(
  session: Session,
  request: { trigger: string; digests: readonly string[]; now: Instant },
): Promise<Set<string>> {
  const rows = await session.db.all<{ digest: string }>(SEEN, request.trigger, request.digests, request.now)
  return new Set(rows.map(({ digest }) => digest))
}

/** Remembers what a trigger has seen. */
export async function remember(session: Session, trigger: string, keys: readonly SeenKey[]): Promise<void> {
  if (keys.length === 0) return
  // A statement writes a row once, so of two with one digest the later one counts.
  const last = new Map(keys.map(({ digest, untilAt = null }) => [digest, untilAt]))
  await session.db.change(REMEMBER, trigger, [...last.keys()], [...last.values()])
}

/** Forgets what a trigger has seen, up to a bound. */
export async function forgetSeen(
  session: Session,
  request: { trigger: string; limit: number },
): Promise<number> {
  return await session.db.change(FORGET, request.trigger, request.limit)
}

/** Forgets what is over, up to a bound. */
export async function forgetOver(session: Session, request: { now: Instant; limit: number }): Promise<void> {
  await session.db.change(FORGET_OVER, request.now, request.limit)
}
