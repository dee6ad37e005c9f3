import { fault, within, type Place } from '../../kernel/definition/faults.js'
import { readDuration, readOptions, type Written } from '../../kernel/definition/read-value.js'
import { burstKey, type Burst } from '../../kernel/run/burst.js'
import { formatDuration, MAX_DURATION_MS } from '../../time/duration.js'

/** Of several enqueues with one key, the last one runs when no more follow for a while. */
export interface DebounceOptions {
  /** The common key of the enqueues, such as the id of a customer. */
  readonly key: string
  /** How long the run waits after the last enqueue. */
  readonly wait: string | number
  /** The longest time that the run waits after the first enqueue; default: no limit. */
  readonly max?: string | number | undefined
}

/** Of the enqueues with one key, the first one in each period runs, and the others are dropped. */
export interface ThrottleOptions {
  /** The common key of the enqueues, such as the id of a customer. */
  readonly key: string
  /** The length of the period, which begins with an enqueue that runs. */
  readonly per: string | number
}

/** The parsed `debounce` or `throttle` of an enqueue. */
export interface BurstTerms {
  readonly burst: Burst
  readonly uniqueKey: string
}

const someDuration = { min: 1, max: MAX_DURATION_MS, allowed: 'from 1ms to 36525d' }

/** Options that cannot be combined with debounce or throttle. */
const excluded = ['uniqueKey', 'uniqueFor', 'tx'] as const

/** Reads `debounce` or `throttle`; both together are a fault. */
export function readBurst(
  input: Written,
  readKey: (value: unknown, place: Place) => string | undefined,
  place: Place,
): BurstTerms | undefined {
  const kind = input['debounce'] === undefined ? 'throttle' : 'debounce'
  if (input[kind] === undefined) return undefined
  const others = kind === 'debounce' ? (['throttle', 'at', 'delay', ...excluded] as const) : excluded
  for (const other of others)
    if (input[other] !== undefined)
      fault(within(place, other), `it contradicts \`${kind}\`, which decides the same`, 'either of them')
  const at = within(place, kind)
  const given = readOptions(input[kind], kind === 'debounce' ? ['key', 'wait', 'max'] : ['key', 'per'], at)
  if (given === undefined) return undefined
  const length = kind === 'debounce' ? 'wait' : 'per'
  for (const name of ['key', length]) if (given[name] === undefined) fault(within(at, name), 'it is missing')
  const key = readKey(given['key'], within(at, 'key'))
  const ms = readDuration(given[length], someDuration, within(at, length))
  const maxMs = readDuration(given['max'], someDuration, within(at, 'max'))
  if (maxMs !== undefined && ms !== undefined && maxMs < ms)
    fault(
      within(at, 'max'),
      `${formatDuration(maxMs)} contradicts \`${kind}.wait\` (${formatDuration(ms)})`,
      `at least ${formatDuration(ms)}`,
    )
  if (key === undefined || ms === undefined) return undefined
  const burst: Burst = kind === 'debounce' ? { kind, waitMs: ms, maxMs } : { kind, perMs: ms }
  return { burst, uniqueKey: burstKey(kind, key) }
}
