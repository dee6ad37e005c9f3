import { useSyncExternalStore } from 'react'

let shown = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

/** The time of the reader's clock, once a second: one timer for the whole page, and none while nobody asks. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => shown)
}

/** A text that depends on the time: whoever shows it is rendered again only when it changes. */
export function useFromNow(textAt: (now: number) => string): string {
  return useSyncExternalStore(subscribe, () => textAt(shown))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    shown = Date.now()
    timer = setInterval(tick, 1000)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tick(): void {
  if (document.visibilityState !== 'visible') return
  shown = Date.now()
  for (const listener of listeners) listener()
}
