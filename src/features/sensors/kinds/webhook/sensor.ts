import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, type Place } from '../../../../kernel/definition/faults.js'
import type { Json } from '../../../../kernel/definition/json.js'
import { partitionOf } from '../../../../kernel/partition/partition.js'
import { readTable } from '../../../../kernel/definition/option-table.js'
import type { ConfiguredSensor, Observation, Sensor } from '../../sensor.js'
import { messageOf, pickObservation, readPick, type BodyPick, type Picker } from '../body-pick.js'
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

const table = { secret: readSecrets, partition: readPick, key: readPick, payload: readPick }

/** The checked options of a webhook sensor. */
export type WebhookSensorConfig = ReturnType<typeof readConfig>

/** A sensor that receives deliveries signed by the Standard Webhooks rules. There is nothing to poll. */
export function webhookSensor(options: WebhookSensorOptions): ConfiguredSensor<WebhookSensorConfig, null> {
  return { type: 'webhook', sensor, config: readConfig(options) }
}

function readConfig(options: WebhookSensorOptions) {
  const place = placeOf()
  const { secret: secrets, ...picks } = readTable(options, table, place)
  refuse('the webhook sensor', place.faults)
  return { secrets, ...picks }
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
    readonly now: Date
    readonly timezone: string
  },
): Promise<{ readonly kind: 'observed'; readonly observation: Observation } | WebhookRefusal> {
  const { headers, body, now, timezone } = delivery
  const verified = verifyWebhook({ secrets: config.secrets, headers, body, now })
  if (verified.kind !== 'verified') return verified
  const { content, id, sentAt } = verified
  const picks = {
    partition: config.partition ?? always(partitionOf('day', sentAt.getTime(), timezone)),
    key: config.key ?? always(id),
    payload: config.payload ?? always(content),
  }
  try {
    return { kind: 'observed', observation: await pickObservation(picks, content) }
  } catch (error) {
    return { kind: 'malformed', reason: messageOf(error) }
  }
}

function always(value: Json): Picker {
  return { source: '', pick: () => value }
}

/** The value is never shown: it may be a mistyped secret. */
function readSecrets(given: unknown, place: Place): readonly string[] {
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
