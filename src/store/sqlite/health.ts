import { statSync } from 'node:fs'
import type { StoreHealth } from '../store-health.js'
import { highestTime, readMeta } from '../sql/meta.js'
import { performNow } from '../sql/verb.js'
import type { Session } from './session.js'

const ENGINE = `select sqlite_version()`

/** The most faults that a deep check names. */
const maxFaults = 20

const DEEP = `select quick_check from pragma_quick_check limit ${maxFaults}`

/** The health of the store; a deep check reads the whole file. */
export function health(session: Session, request: { path: string; isDeep: boolean }): StoreHealth {
  const { db } = session
  const meta = performNow(readMeta(session))
  return {
    id: meta.store,
    schemaVersion: meta.version,
    engine: `SQLite ${db.value(ENGINE)}`,
    sizeBytes: sizeOf(request.path) + sizeOf(`${request.path}-wal`),
    epoch: meta.epoch,
    commit: db.commitNumber,
    highestAt: performNow(highestTime(session)),
    faults: request.isDeep ? deepFaults(session) : [],
  }
}

/** If the file is too damaged to be checked, that is the fault. */
function deepFaults(session: Session): string[] {
  try {
    const findings = session.db.all<{ quick_check: string }>(DEEP)
    return findings.map((finding) => finding.quick_check).filter((sentence) => sentence !== 'ok')
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
