import type { RunContext } from '../../../engine/worker/perform.js'
import type { RoundService } from '../../../kernel/trigger/round-spec.js'
import type { Cycle, ServiceTiming } from '../round.js'
import { isFinal, type Run } from '../../../kernel/run/run.js'
import type { Trigger } from '../../../kernel/trigger/trigger.js'
import type { Store } from '../../../store/port.js'
import { formatInstant, type Instant } from '../../../time/instant.js'
import type { WorldObserver } from '../../../testing/observer.js'

/** A cycle without progress for this long is stuck. */
const stillMs = 6 * 3_600_000

/** Records the services of rounds in a simulated world, and compares them with the store. */
export class RoundObserver implements WorldObserver {
  readonly #rounds: ReadonlyMap<string, readonly RoundService[]>
  /** The progress of each cycle: the index of the last service that began. */
  readonly #reached = new Map<string, number>()
  readonly #broken: string[] = []

  constructor(triggers: readonly Trigger[]) {
    const rounds = triggers.flatMap(({ name, round }): [string, readonly RoundService[]][] =>
      round === undefined ? [] : [[name, round.services]],
    )
    this.#rounds = new Map(rounds)
  }

  began({ trigger = '', job, dueAt }: RunContext): void {
    const place = this.#rounds.get(trigger)?.findIndex((service) => service.job === job) ?? -1
    if (place === -1) return
    const cycle = `${trigger} at ${formatInstant(dueAt.getTime())}`
    if (place < (this.#reached.get(cycle) ?? 0))
      this.#broken.push(`R2: ${job} of ${cycle} began out of order`)
    this.#reached.set(cycle, place)
  }

  /** All violated guarantees of rounds. */
  async verdict(store: Store, runs: readonly Run[], endAt: Instant): Promise<readonly string[]> {
    if (this.#rounds.size === 0) return []
    const own = runs.filter(({ origin }) => origin === 'round')
    const broken = [...this.#broken, ...repeated(own)]
    for (const service of this.#services()) broken.push(...(await judgeTiming(store, own, service)))
    for (const note of await store.stateEntries({ kind: 'cycle', limit: 1000 })) {
      const { current } = note.value as unknown as Cycle
      const run = own.find(({ id }) => id === current?.run)
      const isWaiting = run !== undefined && !isFinal(run.state)
      if (!isWaiting && note.at < endAt - stillMs) broken.push(`R7: the cycle of ${note.name} is stuck`)
    }
    return broken
  }

  #services(): Iterable<RoundService> {
    const all = [...this.#rounds.values()].flat()
    return new Map(all.map((service) => [service.job, service])).values()
  }
}

/** Services that ran twice for one instant, in any rounds. */
function repeated(runs: readonly Run[]): string[] {
  const seen = new Set<string>()
  return runs.flatMap(({ job, dueAt }) => {
    const key = `${job} at ${formatInstant(dueAt)}`
    const isRepeated = seen.has(key)
    seen.add(key)
    return isRepeated ? [`R10: ${key} ran twice`] : []
  })
}

/** A service succeeds at most once per interval, and its timing is that of its last success. */
async function judgeTiming(
  store: Store,
  runs: readonly Run[],
  { job, everyMs }: RoundService,
): Promise<string[]> {
  const own = runs.filter((run) => run.job === job)
  const done = own.filter(({ state }) => state === 'done').map(({ dueAt }) => dueAt)
  const instants = done.toSorted((a, b) => a - b)
  const early = instants.filter((at, index) => index > 0 && at - (instants[index - 1] as Instant) < everyMs)
  const broken = early.map((at) => `R4: ${job} at ${formatInstant(at)} came before its interval had passed`)
  const [note] = await store.stateEntries({ kind: 'service', names: [job], limit: 1 })
  const timing = note?.value as ServiceTiming | undefined
  if ((timing?.lastRunAt ?? undefined) !== instants.at(-1))
    broken.push(`R3: the timing of ${job} is not its last success`)
  const isInFlight = own.some(({ state }) => !isFinal(state))
  if ((timing?.inFlight ?? null) !== null && !isInFlight) broken.push(`R6: ${job} is in flight without a run`)
  return broken
}
