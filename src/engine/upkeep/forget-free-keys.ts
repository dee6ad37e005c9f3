import { rateStateOf } from '../../kernel/job/rate-limit.js'
import type { StateChange } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

const batch = 500

/** Removes the rate states of concurrency keys that are unused again. One that started a run meanwhile stays. */
export async function forgetFreeKeys(store: Store, now: Instant): Promise<void> {
  for (let after: { name: string; item: string } | undefined; ; ) {
    const entries = await store.stateEntries({ kind: 'rate', limit: batch, after })
    const free = entries.filter(({ item, value }) => item !== '' && rateStateOf(value).freeAt <= now)
    const changes = free.map(({ name, item, revision }): StateChange => {
      return { kind: 'rate', name, item, revision, value: undefined }
    })
    if (changes.length > 0 && (await store.changeState({ changes, now })) === 'stale')
      for (const change of changes) await store.changeState({ changes: [change], now })
    after = entries.at(-1)
    if (entries.length < batch) return
  }
}
