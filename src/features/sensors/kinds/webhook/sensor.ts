import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, within, type Place } from '../../../../kernel/definition/faults.js'
import type { Json } from '../../../../kernel/definition/json.js'
import { partitionOf } from '../../../../kernel/partition/partition.js'
import { readOptions, type Written } from '../../../../kernel/definition/read-value.js'
import type { ConfiguredSensor, Observation, Sensor } from '../../sensor.js'
import type { Instant } from '../../../../time/instant.js'
import { pickLabel, pickPayload, readPick, type BodyPick, type NotPicked, type Picker } from '../body-pick.js'
import { verifyWebhook, webhookKeyOf, type WebhookHeaders, type WebhookRefusal } from './verify.js'

/** What a webhook sensor may be given. */
export interface WebhookSensorOptions {
  /** What deliveries are signed with: `whsec_` and base64; several while one is being replaced. */
  readonly secret: string | readonly string[]
  /** The partition of a delivery; default: the day on which it was sent. */
  readonly partition?: BodyPick<string | number | undefined> | undefined
  /** The key of a delivery; default: its `webhook-id`. */
  readonly key?: BodyPick<string | number | undefined> | undefined
  /** The payload of the run; default: the whole body. */
  readonly payload?: BodyPick<Json | undefined> | undefined
}

/** The settings of a webhook sensor, checked. */
export interface WebhookSensorConfig {
  readonly secrets: readonly string[]
  readonly partition: Picker | undefined
  readonly key: Picker | undefined
  readonly payload: Picker | undefined
}

/** A sensor that finds what others deliver to it, signed by the Standard Webhooks rules. There is nothing to poll. */
export function webhookSensor(options: WebhookSensorOptions): ConfiguredSensor<WebhookSensorConfig, null> {
  const place = placeOf()
  const config = readConfig(options, place)
  refuse('the webhook sensor', place.faults)
  return { type: 'webhook', sensor, config: config as WebhookSensorConfig }
}

const sensor: Sensor<WebhookSensorConfig, null> = {
  init: () => ({ kind: 'ok', state: null }),
  poll: () => ({ kind: 'no-trigger', reason: 'deliveries come by themselves', state: null }),
}

/** What a delivery is about, or why it is not acted on. Whether its key is new is for whoever keeps the keys. */
export async function observeWebhook(
  config: WebhookSensorConfig,
  delivery: {
    readonly headers: WebhookHeaders
    /** The bytes as they came. */
    readonly body: Uint8Array
    readonly now: Instant
    readonly timezone: string
  },
): Promise<{ readonly kind: 'observed'; readonly observation: Observation } | WebhookRefusal> {
  const { headers, body, now, timezone } = delivery
  const verified = verifyWebhook({ secrets: config.secrets, headers, body, now })
  if (verified.kind !== 'verified') return verified
  const { content, id, sentAt } = verified
  const partition = await pickLabel(
    'partition',
    config.partition ?? always(partitionOf('day', sentAt, timezone)),
    content,
  )
  const key = await pickLabel('key', config.key ?? always(id), content)
  const payload = await pickPayload(config.payload ?? always(content), content)
  if (partition.kind === 'none') return malformed(partition)
  if (key.kind === 'none') return malformed(key)
  if (payload.kind === 'none') return malformed(payload)
  const observation = { key: key.label, partition: partition.label, payload: payload.payload }
  return { kind: 'observed', observation }
}

function always(value: Json): Picker {
  return { source: '', pick: () => value }
}

function malformed({ reason }: NotPicked): WebhookRefusal {
  return { kind: 'malformed', reason }
}

function readConfig(options: WebhookSensorOptions, place: Place): WebhookSensorConfig | undefined {
  const input = readOptions(options, ['secret', 'partition', 'key', 'payload'], place)
  if (input === undefined) return undefined
  return {
    secrets: readSecrets(input, within(place, 'secret')),
    partition: readPick(input, 'partition', place),
    key: readPick(input, 'key', place),
    payload: readPick(input, 'payload', place),
  }
}

/** Never shows what was given: it may be a secret with a slip of the pen. */
function readSecrets(input: Written, place: Place): readonly string[] {
  const given: unknown = input['secret']
  const secrets: readonly unknown[] = Array.isArray(given) ? given : [given]
  const areSecrets = secrets.every((one) => typeof one === 'string' && webhookKeyOf(one) !== undefined)
  if (!areSecrets || secrets.length === 0 || secrets.length > maxSecrets) {
    fault(
      place,
      'not a secret',
      `whsec_ and 16 to 128 bytes as base64, or a list of at most ${maxSecrets} of them`,
    )
  }
  return secrets as readonly string[]
}

const maxSecrets = 8
