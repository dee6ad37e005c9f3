import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { packageVersion } from '../formats/version.js'

/** The host, process and version of this process. */
export function workerIdentity(): { readonly host: string; readonly pid: number; readonly version: string } {
  return { host: hostname(), pid: process.pid, version: packageVersion }
}

/** A name that no other worker has or had. */
export function newWorkerId(): string {
  return `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`
}

/** The process id of a worker; undefined if it is on another host. */
export function processOnThisHost(worker: string): number | undefined {
  const [, host, pid] = /^(.*):(\d+):[0-9a-f]+$/.exec(worker) ?? []
  return host === hostname() ? Number(pid) : undefined
}
