import { fault, within, type Place } from '../../kernel/definition/faults.js'
import { frozen } from '../../kernel/definition/frozen.js'
import type { Json } from '../../kernel/definition/json.js'
import { readDuration, readOptions, type Written } from '../../kernel/definition/read-value.js'
import type { SecretText } from '../../kernel/definition/secret-text.js'
import { jobDefaults } from '../../kernel/job/job.js'
import { readPing } from '../../kernel/ping/ping.js'
import { defineTrigger } from '../../kernel/trigger/define-trigger.js'
import type { ConfiguredApp, FeatureDefinitions } from '../feature-config.js'
import { pingJobOptions, pingJobPrefix } from './job.js'

/** What a config may say about pings of the scheduler itself. */
export interface PingsConfig {
  /** Reports to an address regularly that the scheduler plans and a worker performs. */
  readonly ping?: SchedulerPing | undefined
}

/** Where and how often it is reported that the scheduler works. */
export interface SchedulerPing {
  /** The address, for pings in the format of healthchecks.io; `{ env: NAME }` keeps it secret. */
  readonly url: SecretText
  /** How often, from `10s` to `1d`; default: `5m`. */
  readonly every?: string | number | undefined
}

const everyBounds = { min: 10_000, max: 86_400_000, allowed: 'from 10s to 1d' }

/** Reads the ping of a config. It is a trigger like others: a ping proves that planning, claiming and performing work. */
export function readSection({ ping }: Written, whole: Place): FeatureDefinitions {
  const place = within(whole, 'ping')
  const input = ping === undefined ? undefined : readOptions(ping, ['url', 'every'], place)
  if (input === undefined) return {}
  if (input['url'] === undefined) fault(within(place, 'url'), 'it is missing')
  const url = readPing(input['url'], within(place, 'url'))
  const everyMs = readDuration(input['every'], everyBounds, within(place, 'every')) ?? 300_000
  return url === undefined ? {} : { define: (app) => definePing(app, { url, everyMs }) }
}

function definePing(
  { definitions, source }: ConfiguredApp,
  { url, everyMs }: { readonly url: SecretText; readonly everyMs: number },
): void {
  const name = `ping:${source}`
  const job = `${pingJobPrefix}${source}`
  // A late ping is useless: the next one replaces it.
  const retry = { ...pingJobOptions.retry, attempts: 2 }
  definitions.addJob(frozen({ ...jobDefaults, name: job, ...pingJobOptions, retry }))
  const payload = { kind: 'success', url, trigger: name } as unknown as Json
  definitions.addTrigger(
    defineTrigger(name, { job, every: everyMs, catchUp: 'skip', overlap: 'skip', payload }),
  )
}
