import type { Instant } from '../../time/instant.js'
import { done } from '../sql/rows/states.js'
import type { Session } from './session.js'

/** The run that has a unique key. Relies on: runs_unique_open and runs_unique_until. */
const UNIQUE_HOLDER = `select id from (
    select seq, id from rota.runs where job = $1 and unique_key = $2 and unique_key is not null and state < ${done}
    union
    select seq, id from rota.runs where job = $1 and unique_key = $2 and unique_until > $3
  ) found order by seq limit 1`

/** Sets the locks of unique keys apart from the lock of the schema: the letters after "Rota". */
const keyLockClass = 0x52_6f_74_62

/** What stands for a unique key among the locks: whoever records a run with it holds this to the end of its transaction. */
function keyLock(job: string, key: string): string {
  return `${keyLockClass}, hashtext('rota'::name || ':' || ${job} || '=' || ${key})`
}

// Never waits: the one who has it may take an hour to commit.
const TRY_LOCK = `select pg_try_advisory_xact_lock(${keyLock('$1::text', '$2::text')})::int as is_free`

/** Thrown where somebody records a run with the same key in a transaction that goes on: it is tried again later. */
export class KeyTaken extends Error {}

/** The run that has a unique key; from here on nobody else can get it before this transaction ends. */
export async function uniqueHolder(
  session: Session,
  { job, key, now }: { job: string; key: string; now: Instant },
): Promise<string | undefined> {
  const { db } = session
  if ((await db.value(TRY_LOCK, job, key)) !== 1) {
    throw new KeyTaken(
      `the unique key ${key} of ${job} is being recorded in a transaction that has not ended`,
    )
  }
  return (await db.value(UNIQUE_HOLDER, job, key, now)) as string | undefined
}
