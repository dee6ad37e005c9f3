import { isWatched, missedNotice, noticeChange, watchKey, type AlertNotice } from '../kernel/alert/notice.js'
import type { Json } from '../kernel/definition/json.js'
import type { Tick } from '../kernel/tick/tick.js'
import type { Store, WorkerStatus } from '../store/port.js'
import type { Instant } from '../time/instant.js'

/** Reads which kinds of notices are watched. */
export async function readWatch(store: Store): Promise<Json | undefined> {
  const { kind, name } = watchKey
  const [entry] = await store.stateEntries({ kind, names: [name], items: [''], limit: 1 })
  return entry?.value
}

/** Whether a tick missed due instants, so that it may need a notice. */
export function hasMissed({ ranges }: Tick): boolean {
  return ranges.some(({ reason }) => reason === 'missed')
}

/** Adds notices to ticks that missed due instants; they are written in the transactions of the ticks. */
export async function withMissedNotices(store: Store, ticks: readonly Tick[]): Promise<readonly Tick[]> {
  const watch = await readWatch(store)
  return ticks.map((tick) => {
    const notice = missedNotice(tick, watch)
    return notice === undefined ? tick : { ...tick, stateChanges: [...(tick.stateChanges ?? []), notice] }
  })
}

/** Writes a notice, if a rule watches for it. */
export async function writeNotice(store: Store, notice: AlertNotice, id: string): Promise<void> {
  if (!isWatched(await readWatch(store), notice.on)) return
  await store.changeState({ changes: [noticeChange(notice, id)], now: notice.at })
}

/** Writes notices of workers before they are declared dead, because a dead worker is no longer listed. */
export async function noteLostWorkers(
  store: Store,
  { now, isLost }: { readonly now: Instant; readonly isLost: (worker: WorkerStatus) => boolean },
): Promise<void> {
  if (!isWatched(await readWatch(store), 'worker-lost')) return
  const lost = (await store.workers()).filter(isLost)
  if (lost.length === 0) return
  const changes = lost.map(({ id, host, pid, running }) => {
    const text = `worker ${id} (${host}, process ${pid}) disappeared; it held ${running === 1 ? '1 run' : `${running} runs`}`
    return noticeChange(
      { on: 'worker-lost', at: now, job: null, trigger: null, run: null, dueAt: null, text },
      id,
    )
  })
  await store.changeState({ changes, now })
}
