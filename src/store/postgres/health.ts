import type { StoreHealth, StoreWarning } from '../store-health.js'
import { readMeta } from '../sql/meta.js'
import { perform } from '../sql/verb.js'
import { oldTransactions } from './old-transactions.js'
import type { Session } from './commit/session.js'

const ENGINE = `select current_setting('server_version')`

const SIZE = `select sum(pg_total_relation_size(pg_class.oid))::int8 from pg_class
  join pg_namespace on pg_namespace.oid = relnamespace where nspname = $1 and relkind = 'r'`

// Each counts rows that must not exist.
const DEEP: readonly (readonly [string, string])[] = [
  [
    'runs are held by no known worker',
    `select count(*) from rota.runs where state = 3 and not exists (select 1 from rota.workers where key = worker)`,
  ],
  [
    'triggers have no version in force',
    `select count(*) from rota.triggers where not exists (
      select 1 from rota.versions where versions.trigger = name and versions.version = triggers.version)`,
  ],
  [
    'attempts belong to no run',
    `select count(*) from rota.attempts where not exists (select 1 from rota.runs where seq = run)`,
  ],
]

/** The health of the store; a deep check reads whole tables. */
export async function health(
  session: Session,
  request: { schema: string; isDeep: boolean; isDeaf: boolean },
): Promise<StoreHealth> {
  const { db } = session
  const meta = await perform(readMeta(session))
  return {
    id: meta.store,
    schemaVersion: meta.version,
    engine: `PostgreSQL ${await db.value(ENGINE)}`,
    sizeBytes: (await db.value(SIZE, request.schema)) as number | undefined,
    epoch: meta.epoch,
    highestAt: Math.max(session.remembered.highestAt, meta.highest_at),
    faults: request.isDeep ? await deepFaults(session) : [],
    warnings: [...(request.isDeaf ? [deaf] : []), ...(await oldTransactions(db))],
  }
}

const deaf: StoreWarning = {
  message:
    'the address is that of a pooler, so hints are not received: changes by other processes are found within 2 s',
  todo: 'add listen=<the address of the server itself>, or of a pooler in session mode',
}

async function deepFaults(session: Session): Promise<string[]> {
  const faults: string[] = []
  for (const [sentence, sql] of DEEP) {
    const count = (await session.db.value(sql)) as number
    if (count > 0) faults.push(`${count} ${sentence}`)
  }
  return faults
}
