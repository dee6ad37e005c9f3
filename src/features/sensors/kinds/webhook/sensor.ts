import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, within, type Place } from '../../../../kernel/definition/faults.js'
import type { Json } from '../../../../kernel/definition/json.js'
import { partitionOf } from '../../../../kernel/partition/partition.js'
import { readOptions, type Written } from '../../../../kernel/definition/read-value.js'
import type { ConfiguredSensor, Observation, Sensor } from '../../sensor.js'
import type { Instant } from '../../../../time/instant.js'
import { pickLabel, pickPayload, readPick, type BodyPick, type NotPicked, type Picker } from '../body-pick.js'
import { verifyWebhook, webhookKeyOf, type WebhookHeaders, type WebhookRefusal } from './verify.js'

/** The options of a webhook sensor. */
export interface WebhookSensorOptions {
  /** The signing secret: `whsec_` and base64; several during a rotation. */
  readonly secret: string | readonly string[]
  /** The partition of a delivery; default: the day on which it was sent. */
  readonly partition?: BodyPick<string | number | undefined> | undefined
  /** The key of a delivery; default: its `webhook-id`. */
  readonly key?: BodyPick<string | number | undefined> | undefined
  /** The payload of the run; default: the whole body. */
  readonly payload?: BodyPick<Json | undefined> | undefined
}

/** The checked options of a webhook sensor. */
export interface WebhookSensorConfig {
  readonly secrets: readonly string[]
  readonly partition: Picker | undefined
  readonly key: Picker | undefined
  readonly payload: Picker | undefined
}

/** A sensor that receives deliveries signed by the Standard Webhooks rules. There is nothing to poll. */
export function webhookSensor(options: WebhookSensorOptions): ConfiguredSensor<WebhookSensorConfig, null> {
  const place = placeOf()
  const config = readConfig(options, place)
  refuse('the webhook sensor', place.faults)
  return { type: 'webhook', sensor, config: config as WebhookSensorConfig }
}

const sensor: Sensor<WebhookSensorConfig, null> = {
  init: () => ({ kind: 'ok', state: null }),
  poll: () => ({ kind: 'no-trigger', reason: 'deliveries are pushed', state: null }),
}

/** The observation of a delivery, or why it is refused. The caller checks whether its key is new. */
export async function observeWebhook(
  config: WebhookSensorConfig,
  delivery: {
    readonly headers: WebhookHeaders
    /** The raw bytes. */
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

/** The value is never shown: it may be a mistyped secret. */
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
