import type {
  DefinitionCheck,
  Definitions,
  JobDefinition,
  TriggerOrigin,
} from '../../kernel/definition/definitions.js'
import { RotaError, refuse } from '../../kernel/definition/errors.js'
import { fault, placeOf, within, type Key } from '../../kernel/definition/faults.js'
import { didYouMean } from '../../kernel/definition/read-value.js'
import type { Job, Queue } from '../../kernel/job/job.js'
import { kindOf, type TriggerKinds } from '../trigger-kind.js'
import { jobsOf, type Trigger } from '../../kernel/trigger/trigger.js'
import { namedText } from '../../text/error-text.js'
import type { Handler } from '../worker/perform.js'

/** The definitions of an app in this process, before they are in the store. */
export class Registry {
  readonly jobs = new Map<string, { readonly job: Job; readonly handler: Handler | undefined }>()
  readonly triggers = new Map<string, Trigger>()
  readonly queues = new Map<string, Queue>()
  /** The functions of jobs that were added at run time: their definitions are in the store only. */
  readonly handlers = new Map<string, Handler>()
  /** Services that another program has also defined; this one performs them by its own definition. */
  shared: ReadonlySet<string> = new Set()
  readonly #origins = new Map<string, TriggerOrigin>()
  readonly #checks = new Set<DefinitionCheck>()
  readonly #parts = new Map<() => unknown, unknown>()

  /** Replaces its definitions by those of another registry; functions that were added at run time stay. */
  replaceBy(other: Registry): void {
    refill(this.jobs, other.jobs)
    refill(this.triggers, other.triggers)
    refill(this.queues, other.queues)
    refill(this.#origins, other.#origins)
    refill(this.#parts, other.#parts)
    this.#checks.clear()
    for (const check of other.#checks) this.#checks.add(check)
    this.shared = other.shared
  }

  /** Adds definitions that were read together. */
  add({ jobs = [], triggers = [], checks = [] }: Definitions): void {
    for (const { job, handler } of jobs) this.addJob(job, handler)
    for (const { trigger, origin } of triggers) this.addTrigger(trigger, origin)
    for (const check of checks) this.addCheck(check)
  }

  addJob(job: Job, handler?: JobDefinition['handler']): void {
    if (this.jobs.has(job.name)) throw twice('job', job.name)
    this.jobs.set(job.name, { job, handler: handler as Handler | undefined })
  }

  addTrigger(trigger: Trigger, origin?: TriggerOrigin): void {
    if (this.triggers.has(trigger.name)) throw twice('trigger', trigger.name)
    this.triggers.set(trigger.name, trigger)
    if (origin !== undefined) this.#origins.set(trigger.name, origin)
  }

  addQueue(queue: Queue): void {
    this.queues.set(queue.name, queue)
  }

  addHandler(name: string, handler: NonNullable<JobDefinition['handler']>): void {
    this.handlers.set(name, handler as Handler)
  }

  /** Adds a check that runs when all definitions are known; adding it twice changes nothing. */
  addCheck(check: DefinitionCheck): void {
    this.#checks.add(check)
  }

  /** Additional data that a feature or handler keeps with the definitions; created on first use. */
  part<Part>(make: () => Part): Part {
    if (!this.#parts.has(make)) this.#parts.set(make, make())
    return this.#parts.get(make) as Part
  }

  /** Throws one error with all faults between definitions, such as a trigger of an unknown job. */
  check(
    others: ReadonlyMap<string, Job>,
    { kinds, whereOf }: { kinds: TriggerKinds; whereOf?: ((keys: readonly Key[]) => string) | undefined },
  ): void {
    const place = placeOf()
    const own = new Map([...this.jobs].map(([name, { job }]) => [name, job]))
    const triggers = [...this.triggers.values()].map((trigger) => {
      return { trigger, place: within(within(place, this.sectionOf(trigger.name)), trigger.name) }
    })
    const jobs = new Map([...others, ...own])
    for (const { trigger, place: at } of triggers)
      kindOf(kinds, trigger).checkJob?.(trigger, jobs.get(trigger.job), at)
    for (const check of this.#checks) check({ own, others, triggers }, place)
    const known = [...own.keys(), ...others.keys()]
    for (const { name, deadLetter } of own.values()) {
      if (deadLetter === undefined) continue
      const at = within(within(within(place, 'jobs'), name), 'deadLetter')
      const letters = jobs.get(deadLetter)
      if (letters === undefined)
        fault(
          at,
          `no job is named ${namedText(deadLetter)}${didYouMean(deadLetter, known)}`,
          known.join(', '),
        )
      else if (letters.deadLetter !== undefined)
        fault(at, `${namedText(deadLetter)} has a dead-letter job itself (jobs.${deadLetter}.deadLetter)`)
    }
    for (const { trigger, place: at } of triggers) {
      const jobAt = this.#origins.get(trigger.name)?.jobAt ?? (() => ['job'])
      for (const [index, job] of jobsOf(trigger).entries()) {
        if (jobs.has(job)) continue
        const message = `no job is named ${namedText(job)}${didYouMean(job, known)}`
        fault(jobAt(index).reduce(within, at), message, known.join(', '))
      }
    }
    refuse(
      'the app',
      place.faults.map(({ keys, ...one }) => ({ ...one, where: whereOf?.(keys) })),
    )
  }

  /** The section of a config that defines this trigger. */
  sectionOf(trigger: string): string {
    return this.#origins.get(trigger)?.section ?? 'triggers'
  }
}

function refill<Key, Value>(map: Map<Key, Value>, from: ReadonlyMap<Key, Value>): void {
  map.clear()
  for (const [key, value] of from) map.set(key, value)
}

/** The error for a name that is defined twice. */
export function twice(what: string, name: string): RotaError {
  const faults = [{ path: `${what}s.${name}`, message: `${what} ${name} is defined twice` }]
  return new RotaError('DEFINITION_INVALID', `${what} ${name} is defined twice`, { faults })
}
