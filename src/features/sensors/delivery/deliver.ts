import { RotaError } from '../../../kernel/definition/errors.js'
import { holdsAt, planningTargets } from '../../../kernel/hold/hold.js'
import { copyObservation, observationProblem } from '../polling/read-poll.js'
import { deliveryTick, digestOf, isPolled, type SensorFacts } from '../plan.js'
import type { Observation } from '../sensor.js'
import type { Instant } from '../../../time/instant.js'
import { unknownSensor } from '../status.js'
import { freshOf, readFacts, tickOne, type CommitContext } from '../polling/commit.js'

/** The result of a delivery: it became a run, it is a duplicate, or the sensor accepts none now. */
export type Delivered = 'accepted' | 'duplicate' | 'paused'

const perTick = 1000
const tries = 50

/** Commits delivered observations in the same way as those of a poll. Deliveries that arrive together are committed together. */
export class Deliveries {
  readonly #context: CommitContext
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #busy = new Set<string>()

  constructor(context: CommitContext) {
    this.#context = context
  }

  /** Resolves when the observation is durable, or is known to be a duplicate. */
  async deliver(sensor: string, observation: Observation): Promise<Delivered> {
    const problem = observationProblem(observation)
    if (problem !== undefined)
      throw new RotaError('PAYLOAD_INVALID', `the observation cannot be accepted: ${problem}`)
    return await new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(sensor) ?? []
      this.#waiting.set(sensor, waiting)
      waiting.push({ observation: copyObservation(observation), resolve, reject })
      if (!this.#busy.has(sensor)) void this.#drain(sensor)
    })
  }

  async #drain(sensor: string): Promise<void> {
    this.#busy.add(sensor)
    for (;;) {
      const batch = this.#waiting.get(sensor)?.splice(0, perTick) ?? []
      if (batch.length === 0) break
      try {
        const answers = await this.#commit(sensor, batch)
        for (const [index, one] of batch.entries()) one.resolve(answers[index] as Delivered)
      } catch (error) {
        for (const one of batch) one.reject(error)
      }
    }
    this.#busy.delete(sensor)
    this.#waiting.delete(sensor)
  }

  async #commit(sensor: string, batch: readonly Waiting[]): Promise<Delivered[]> {
    const { store } = this.#context
    const observations = batch.map(({ observation }) => observation)
    for (let i = 0; i < tries; i++) {
      const now = this.#context.now()
      const [facts] = await readFacts(store, [sensor], now)
      if (facts === undefined || !facts.due.active) throw unknownSensor(sensor, [])
      if (isHeld(facts, now)) return batch.map(() => 'paused')
      const fresh = await freshOf(store, facts, { observations, now })
      if (fresh.length === 0) return batch.map(() => 'duplicate')
      if (await tickOne(this.#context, deliveryTick(facts, fresh, now))) return answersOf(facts, batch, fresh)
    }
    throw new RotaError(
      'STORE_BUSY',
      `the sensor ${sensor} kept changing while something was delivered to it`,
    )
  }
}

interface Waiting {
  readonly observation: Observation
  readonly resolve: (delivered: Delivered) => void
  readonly reject: (error: unknown) => void
}

function isHeld(facts: SensorFacts, now: Instant): boolean {
  const { due } = facts
  if (!isPolled(facts, now)) return true
  return due.holds.some((hold) => planningTargets.includes(hold.target) && holdsAt(hold, now))
}

/** Of several equal observations, the first one is accepted. */
function answersOf(
  { spec }: SensorFacts,
  batch: readonly Waiting[],
  fresh: readonly Observation[],
): Delivered[] {
  const open = new Set(fresh.map((observation) => digestOf(spec, observation)))
  return batch.map(({ observation }) => (open.delete(digestOf(spec, observation)) ? 'accepted' : 'duplicate'))
}
