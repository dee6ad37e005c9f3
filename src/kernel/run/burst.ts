/**
 * Debounce and throttle: what happens to several enqueues of a job with one key in a short time. The key, with the kind
 * before it, is the unique key of the run; a label of the run counts the other enqueues.
 */
import type { Instant } from '../../time/instant.js'

/** The labels of a run. */
type Labels = Readonly<Record<string, string>>

/** The rule of an enqueue. */
export type Burst =
  /** The last one runs: it replaces the waiting one, and waits itself. */
  | { readonly kind: 'debounce'; readonly waitMs: number; readonly maxMs: number | undefined }
  /** The first one runs: later ones within the period are dropped. */
  | { readonly kind: 'throttle'; readonly perMs: number }

/** The labels that count the other enqueues of a run. */
export const burstLabels = { debounce: 'replaced_enqueues', throttle: 'dropped_enqueues' } as const

/** The unique key of a run with a rule. */
export function burstKey(kind: Burst['kind'], key: string): string {
  return `${kind}:${key}`
}

/** Whether a unique key belongs to a rule. */
export function isBurstKey(key: string): boolean {
  return key.startsWith('debounce:') || key.startsWith('throttle:')
}

/** The labels of a run after one more enqueue. */
export function countedLabels(kind: Burst['kind'], labels: Labels | undefined): Labels {
  const name = burstLabels[kind]
  return { ...labels, [name]: String(Number(labels?.[name] ?? 0) + 1) }
}

/** When a run may start that replaces one that has waited since an instant. */
export function debouncedRunAt(
  { waitMs, maxMs }: Extract<Burst, { kind: 'debounce' }>,
  { now, sinceAt }: { readonly now: Instant; readonly sinceAt: Instant },
): Instant {
  return maxMs === undefined ? now + waitMs : Math.min(now + waitMs, sinceAt + maxMs)
}
