import {
  checkServices,
  defineRound,
  roundOrigin,
  tooSeldom,
  type RoundInput,
  type ServiceInput,
} from './definition.js'
import { splitChange, type ChangeOptions } from '../../kernel/audit/change-options.js'
import { namedCalendars } from '../../engine/sync/calendars.js'
import type { AskedAudit } from '../../engine/audit-change.js'
import type { AnyJob } from '../../kernel/job/job-ref.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'
import type { AppContext, StartingApp } from '../app-context.js'
import type { RoundState, RoundStatus, ServiceTimes } from './status.js'

/** A round as code writes it: its services are names of jobs, or return values of `app.job()`. */
export interface RoundOptions extends Omit<RoundInput, 'services'> {
  readonly services: readonly (AnyJob | ServiceOptions)[]
}

/** A service of such a round. */
export interface ServiceOptions extends Omit<ServiceInput, 'job'> {
  readonly job: AnyJob
}

/** `app.rounds`: services that are checked at an interval and performed in order. */
export class Rounds {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
    const warn = async ({ roles }: StartingApp): Promise<void> => {
      if (roles.scheduler) for (const trigger of context.definitions.triggers.values()) this.#warn(trigger)
    }
    context.join({ prepare: warn, redefine: warn })
  }

  /** Defines a round. */
  define(name: string, options: RoundOptions): void {
    const { assertNotStarted, definitions } = this.#context
    assertNotStarted('a round')
    definitions.addCheck(checkServices)
    const calendars = definitions.part(namedCalendars)
    definitions.addTrigger(defineRound(name, inputOf(options) as RoundInput, calendars), roundOrigin)
  }

  /** Starts a round at run time, or changes the interval or services of a running one. A stopped round needs only its name. */
  async start(name: string, options: Partial<RoundOptions> & ChangeOptions = {}): Promise<void> {
    const { change, rest: given } = splitChange(options)
    const asked = {
      operation: 'start round',
      target: name,
      outcome: () => 'started',
      options: change,
      audit: auditOf('round.start', name),
      needsJobs: true,
    }
    const { startRound } = await import('./store-rounds.js')
    const calendars = this.#context.definitions.part(namedCalendars)
    const trigger = await this.#context.change(asked, (store, now) =>
      startRound(store, { name, options: inputOf(given), calendars, now }),
    )
    if (change.dryRun !== true) this.#warn(trigger)
  }

  /** Stops a round that was started at run time: its current service finishes, and the rest of its cycle is kept. */
  async stop(name: string, options: ChangeOptions = {}): Promise<void> {
    const audit = auditOf('round.stop', name)
    const asked = { operation: 'stop round', target: name, outcome: () => 'stopped', options, audit }
    const { stopRound } = await import('./store-rounds.js')
    await this.#context.change(asked, (store, now) => stopRound(store, { name, now }))
  }

  /** The status of every active round, by name. */
  async list(): Promise<readonly RoundStatus[]> {
    const { roundStatus, storedRounds } = await import('./status.js')
    const { store, now } = this.#context
    const opened = await store()
    const rounds = await storedRounds(opened, { all: false })
    return await Promise.all(rounds.map(({ trigger }) => roundStatus(opened, trigger.name, now())))
  }

  /** The status of a round: its open cycle, or else the result of its last check. */
  async status(name: string): Promise<RoundStatus> {
    const { roundStatus } = await import('./status.js')
    return await roundStatus(await this.#context.store(), name, this.#context.now())
  }

  /** The saved states of all rounds with an open cycle, or of one round. */
  async state(name?: string): Promise<readonly RoundState[]> {
    const { roundStates } = await import('./status.js')
    return await roundStates(await this.#context.store(), name)
  }

  /** When every service last ran and is due again. */
  async services(): Promise<readonly ServiceTimes[]> {
    const { serviceTimes } = await import('./status.js')
    return await serviceTimes(await this.#context.store())
  }

  /** When one service last ran and is due again. */
  async timing(service: string): Promise<ServiceTimes> {
    const { oneServiceTimes } = await import('./timing.js')
    return await oneServiceTimes(await this.#context.store(), service)
  }

  /** Sets the interval of a service in all rounds. */
  async setTiming(
    service: string,
    options: { readonly every: string | number } & ChangeOptions,
  ): Promise<ServiceTimes> {
    const { every } = options
    const asked = {
      operation: 'set service timing',
      target: service,
      outcome: () => 'set',
      options,
      audit: {
        action: 'service.timing',
        subjects: [{ kind: 'state', key: { kind: 'service', name: service, item: '' } } as const],
      },
    }
    const { setServiceTiming } = await import('./timing.js')
    return await this.#context.change(asked, (store, now) => setServiceTiming(store, { service, every, now }))
  }

  /** Warns about services that are due more often than their round checks. */
  #warn(trigger: Trigger): void {
    const message = tooSeldom(trigger)
    if (message === undefined) return
    const warning = { operation: 'define round', target: trigger.name, outcome: 'warning' }
    this.#context.events.emit('operation', { ...warning, details: { message } })
  }
}

function auditOf(action: string, name: string): AskedAudit {
  return { action, subjects: [{ kind: 'trigger', name }] }
}

function inputOf(options: Partial<RoundOptions>): Partial<RoundInput> {
  const { services, ...rest } = options
  if (!Array.isArray(services)) return options as Partial<RoundInput>
  return { ...rest, services: services.map(serviceOf) }
}

/** Accepts the return value of `app.job()` instead of a name. */
function serviceOf(service: RoundOptions['services'][number]): string | ServiceInput {
  if (typeof service !== 'object' || service === null) return service
  if (!('job' in service)) return service.name
  const { job } = service
  return { ...service, job: typeof job === 'object' && job !== null ? job.name : job }
}
