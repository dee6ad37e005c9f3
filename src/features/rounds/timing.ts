import { serviceTimings } from './facts.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { fault, placeOf, within } from '../../kernel/definition/faults.js'
import type { Json } from '../../kernel/definition/json.js'
import { listedTiming } from './due-services.js'
import type { ServiceTiming } from './round.js'
import { noneNamed, readDuration } from '../../kernel/definition/read-value.js'
import { MAX_DURATION_MS } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import type { Store } from '../../store/port.js'
import { serviceTimes, storedRounds, timesOf, type ServiceTimes } from './status.js'

/** The timing of one service. */
export async function oneServiceTimes(store: Store, service: string): Promise<ServiceTimes> {
  const all = await serviceTimes(store)
  const found = all.find((one) => one.service === service)
  if (found !== undefined) return found
  const known = all.map((one) => one.service)
  const message = noneNamed('service is named', service, { known, list: 'rota round timing' })
  throw new RotaError('JOB_UNKNOWN', message)
}

/** Sets the interval of a service in all rounds; it applies until a list gives a different interval than before. */
export async function setServiceTiming(
  store: Store,
  request: { readonly service: string; readonly every: string | number; readonly now: Instant },
): Promise<ServiceTimes> {
  const { service, now } = request
  const everyMs = readEvery(request.every)
  for (let i = 0; i < tries; i++) {
    const noted = (await serviceTimings(store, new Set([service]))).get(service)
    const timing = { ...(await currentTiming(store, service, noted?.value)), everyMs, isSet: true as const }
    const change = { kind: 'service', name: service, item: '', value: timing as unknown as Json } as const
    const changes = [{ ...change, revision: noted?.revision ?? 0 }]
    if ((await store.changeState({ changes, now })) === 'changed') return timesOf(service, timing)
  }
  throw new RotaError('STORE_BUSY', `the timing of ${service} kept changing`)
}

/** How often a conflicting change is tried again. */
const tries = 20

const bounds = { min: 100, max: MAX_DURATION_MS, allowed: 'from 100ms to 36525d' }

function readEvery(every: unknown): number {
  const place = placeOf()
  const at = within(place, 'every')
  const everyMs =
    every === undefined
      ? fault(at, 'the interval is missing', bounds.allowed)
      : readDuration(every, bounds, at)
  refuse('the timing', place.faults)
  return everyMs as number
}

async function currentTiming(
  store: Store,
  service: string,
  known: ServiceTiming | undefined,
): Promise<ServiceTiming> {
  for (const { trigger } of await storedRounds(store, { all: false })) {
    const listed = trigger.round?.services.find(({ job }) => job === service)
    if (listed !== undefined) return listedTiming(trigger, listed, known)
  }
  if (known !== undefined) return known
  const jobs = (await store.jobs()).map(({ job }) => job.name)
  if (!jobs.includes(service)) {
    const message = noneNamed('job is named', service, { known: jobs, list: 'rota list --jobs' })
    throw new RotaError('JOB_UNKNOWN', message)
  }
  return { lastRunAt: null, everyMs: 0, listedMs: null, triedAt: null, inFlight: null }
}
