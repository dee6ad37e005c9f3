import { statSync } from 'node:fs'
import type { StoreHealth } from '../store.js'
import { highestTime, readMeta } from './meta.js'
import type { Session } from './session.js'

const ENGINE = `select sqlite_version()`

/** How many faults a deep look names. */
const maxFaults = 20

const DEEP = `select json_group_array(quick_check) from pragma_quick_check(${maxFaults})`

/** What the store knows of its own health; a deep look reads the whole file. */
export function health(session: Session, request: { path: string; isDeep: boolean }): StoreHealth {
  const { db } = session
  const meta = readMeta(session)
  const findings = request.isDeep ? db.json<string[]>(DEEP) : ['ok']
  return {
    id: meta.store,
    schemaVersion: meta.version,
    engine: `SQLite ${db.value(ENGINE)}`,
    sizeBytes: sizeOf(request.path) + sizeOf(`${request.path}-wal`),
    epoch: meta.epoch,
    highestAt: highestTime(session),
    faults: findings.filter((finding) => finding !== 'ok'),
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
