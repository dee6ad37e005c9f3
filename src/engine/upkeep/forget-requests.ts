import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { requestsKeptMs } from './kept.js'

const batch = 500

/** Removes the keys of requests that are older than a day. */
export async function forgetRequests(store: Store, now: Instant): Promise<void> {
  for (let after: { name: string; item: string } | undefined; ; ) {
    const entries = await store.stateEntries({ kind: 'request', limit: batch, after })
    const old = entries.filter(({ at }) => at < now - requestsKeptMs)
    const changes = old.map(({ name, item }) => ({ kind: 'request', name, item, value: undefined }) as const)
    if (changes.length > 0) await store.changeState({ changes, now })
    after = entries.at(-1)
    if (entries.length < batch) return
  }
}
