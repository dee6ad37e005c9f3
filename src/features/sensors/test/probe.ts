import type { Json } from '../../../kernel/definition/json.js'
import { recordOf, type SensorRecord } from '../record.js'
import type { Observation, PollContext, PollResult, Sensor } from '../sensor.js'
import type { Store } from '../../../store/port.js'
import { t0 } from '../../../../test/fixtures/engine-stage.js'

/** A sensor whose polls the test defines, and which records its calls. */
export class Probe implements Sensor<never> {
  readonly polls: { readonly at: number; readonly state: Json; readonly signal: AbortSignal }[] = []
  inits = 0
  readonly cleaned: Json[] = []
  answer: (state: Json, context: PollContext<never>) => unknown

  constructor(answer: (state: Json, context: PollContext<never>) => unknown = nothing) {
    this.answer = answer
  }

  init(): { kind: 'ok'; state: Json } {
    this.inits += 1
    return { kind: 'ok', state: { n: 0 } }
  }

  poll(state: Json, context: PollContext<never>): PollResult {
    this.polls.push({ at: context.now.getTime(), state, signal: context.signal })
    return this.answer(state, context) as PollResult
  }

  cleanup(state: Json): void {
    this.cleaned.push(state)
  }

  get instants(): number[] {
    return this.polls.map(({ at }) => at - t0)
  }
}

/** The stored parts of a sensor. */
export async function recordIn({ store }: { readonly store: Store }, name: string): Promise<SensorRecord> {
  const [note] = await store.stateEntries({ kind: 'sensor', names: [name], items: [''], limit: 1 })
  return recordOf(note?.value)
}

/** A poll that found some keys. */
export function found(keys: readonly string[], state: Json = { n: 1 }): unknown {
  const observations: Observation[] = keys.map((key) => {
    return { key, partition: '2026-01-05', payload: { path: key } }
  })
  return { kind: 'trigger', observations, state }
}

/** The number in a state. */
export function n(state: Json): number {
  return (state as { n: number }).n
}

function nothing(state: Json): unknown {
  return { kind: 'no-trigger', state }
}
