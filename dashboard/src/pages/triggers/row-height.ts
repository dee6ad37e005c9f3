import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 640px)')

/** The height of a row: two lines on narrow screens. */
export function useRowHeight(): number {
  return useSyncExternalStore(subscribe, () => (narrow.matches ? 56 : 36))
}

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}
