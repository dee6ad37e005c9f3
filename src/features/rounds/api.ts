import { checkServices, defineRound, roundOrigin, type RoundInput, type ServiceInput } from './definition.js'
import type { JobRef } from '../../app/rota-options.js'
import type { RoundState, RoundStatus, ServiceTimes } from './status.js'
import { RotaJobs } from '../command-jobs/api.js'

/** A round as code writes it: its services are jobs by name or as they were defined. */
export interface RoundOptions extends Omit<RoundInput, 'services'> {
  readonly services: readonly (string | AnyJob | ServiceOptions)[]
}

/** A service of such a round. */
export interface ServiceOptions extends Omit<ServiceInput, 'job'> {
  readonly job: string | AnyJob
}

type AnyJob = JobRef<never> | JobRef

/** Rounds: services that are checked every interval and performed in order. */
export abstract class RotaRounds extends RotaJobs {
  /** Defines a round. */
  round(name: string, options: RoundOptions): void {
    this.assertNotStarted('a round')
    this.registry.addCheck(checkServices)
    this.registry.addTrigger(defineRound(name, inputOf(options) as RoundInput), roundOrigin)
  }

  /** Starts a round at run time, or gives one that runs another interval or list; a stopped one needs its name only. */
  async startRound(name: string, options: Partial<RoundOptions> = {}): Promise<void> {
    const store = await this.store()
    if (!this.own.areJobsWritten) await this.own.writeJobs(store, this.now())
    const asked = { operation: 'start round', target: name, outcome: () => 'started' }
    const { startRound } = await import('./store-rounds.js')
    const input = inputOf(options)
    const trigger = await this.tell(asked, () => startRound(store, { name, options: input, now: this.now() }))
    this.warnOfRounds([trigger])
    this.wake()
  }

  /** Stops a round that was started at run time: its current service finishes, and what is left of its cycle is kept. */
  async stopRound(name: string): Promise<void> {
    const asked = { operation: 'stop round', target: name, outcome: () => 'stopped' }
    const { stopRound } = await import('./store-rounds.js')
    await this.tell(asked, async () => stopRound(await this.store(), { name, now: this.now() }))
  }

  /** How a round stands: its open cycle, or else what its last check came to. */
  async roundStatus(name: string): Promise<RoundStatus> {
    const { roundStatus } = await import('./status.js')
    return await roundStatus(await this.store(), name, this.now())
  }

  /** The saved states of the rounds whose cycle is open, or of one. */
  async roundState(name?: string): Promise<readonly RoundState[]> {
    const { roundStates } = await import('./status.js')
    return await roundStates(await this.store(), name)
  }

  /** When every service ran last and is due again. */
  async serviceTiming(): Promise<readonly ServiceTimes[]>
  /** When a service ran last and is due again. */
  async serviceTiming(service: string): Promise<ServiceTimes>
  async serviceTiming(service?: string): Promise<ServiceTimes | readonly ServiceTimes[]> {
    const store = await this.store()
    if (service === undefined) return await (await import('./status.js')).serviceTimes(store)
    return await (await import('./timing.js')).oneServiceTimes(store, service)
  }

  /** Sets how often a service is to run, in whatever round it is. */
  async setServiceTiming(
    service: string,
    { every }: { readonly every: string | number },
  ): Promise<ServiceTimes> {
    const asked = { operation: 'set service timing', target: service, outcome: () => 'set' }
    const { setServiceTiming } = await import('./timing.js')
    return await this.tell(asked, async () =>
      setServiceTiming(await this.store(), { service, every, now: this.now() }),
    )
  }
}

function inputOf(options: Partial<RoundOptions>): Partial<RoundInput> {
  const { services, ...rest } = options
  if (!Array.isArray(services)) return options as Partial<RoundInput>
  return { ...rest, services: services.map(serviceOf) }
}

/** What a job's own `app.job()` gave stands for its name. */
function serviceOf(service: RoundOptions['services'][number]): string | ServiceInput {
  if (typeof service !== 'object' || service === null) return service
  if (!('job' in service)) return service.name
  const { job } = service
  return { ...service, job: typeof job === 'object' && job !== null ? job.name : job }
}
