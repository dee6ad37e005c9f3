/**
 * Pings inform an external service, such as healthchecks.io, that runs of a trigger begin and end; the service alerts
 * when pings stop. The tick that makes a run also writes a state entry for its pings, so that none is lost.
 */
import { fault, shown, type Place } from '../definition/faults.js'
import type { Json } from '../definition/json.js'
import { isMap } from '../definition/read-value.js'
import { readSecretRef, type SecretText } from '../definition/secret-text.js'
import type { NewRun, Run } from '../run/run.js'
import type { StateChange, StateEntry } from '../state/state-entry.js'

/** The events that are pinged. */
export type PingKind = 'start' | 'success' | 'fail'

/** A run whose pings are not all sent. */
export interface OpenPing {
  readonly trigger: string
  readonly url: SecretText
  /** Whether its start was sent. */
  readonly isStarted: boolean
}

/** Reads the address of pings; records faults at the place. */
export function readPing(value: unknown, place: Place): SecretText | undefined {
  if (value === undefined) return undefined
  if (isMap(value)) return readSecretRef(value, place)
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.password === '') return value as string
  const allowed = 'an http or https URL without a password, or { env: NAME }'
  // A password must not be in a fault, which is printed and logged.
  const what = url === undefined ? shown(value) : 'this'
  return fault(place, `${what} is not an address`, allowed)
}

/** The entries that a tick writes with its runs. */
export function pingChanges(
  { name, ping }: { readonly name: string; readonly ping?: SecretText | undefined },
  runs: readonly NewRun[],
): readonly StateChange[] {
  if (ping === undefined) return []
  const value = { trigger: name, url: ping, isStarted: false } as unknown as Json
  return runs.map(({ id }) => ({ kind: 'ping', name: id, item: '', value }))
}

/** Reads the entry of a run. */
export function openPingOf({ value }: StateEntry): OpenPing {
  return value as unknown as OpenPing
}

/** The ping to send for a run now, and whether it is the last. A start after the end would look like a hanging run. */
export function nextPing(
  { isStarted }: OpenPing,
  run: Run | undefined,
): { readonly kind: PingKind | undefined; readonly isOver: boolean } {
  switch (run?.state) {
    case undefined:
    case 'cancelled':
      return { kind: undefined, isOver: true }
    case 'done':
      return { kind: 'success', isOver: true }
    case 'failed':
      return { kind: 'fail', isOver: true }
    case 'pending':
    case 'running':
      return { kind: run?.state === 'running' && !isStarted ? 'start' : undefined, isOver: false }
  }
}
