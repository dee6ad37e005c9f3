import { isChannelName, readChannels } from '../../kernel/alert/alerts-option.js'
import { alertJobPrefix, alertKinds, type AlertKind } from '../../kernel/alert/notice.js'
import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import { frozen } from '../../kernel/definition/frozen.js'
import {
  isMap,
  readChoice,
  readDuration,
  readOptions,
  type Entry,
  type Written,
} from '../../kernel/definition/read-value.js'
import { readSecretRef, type SecretRef, type SecretText } from '../../kernel/definition/secret-text.js'

/** Where messages go: exactly one of these. */
export interface ChannelInput {
  /** Sends the message as JSON, signed by the Standard Webhooks rules. */
  readonly webhook?: { readonly url: SecretText; readonly secret: SecretRef } | undefined
  /** An incoming webhook of Slack; its address is a secret. */
  readonly slack?: { readonly url: SecretRef } | undefined
  /** A webhook of Discord; its address is a secret. */
  readonly discord?: { readonly url: SecretRef } | undefined
  /** A command without a shell; it finds the message in `ROTA_PAYLOAD`. @minItems 1 @maxItems 100 */
  readonly command?: readonly string[] | undefined
  /** An e-mail through your own mail server; needs the package `nodemailer`. */
  readonly email?: EmailInput | undefined
}

/** How an e-mail is sent. */
export interface EmailInput {
  /** The address of the server, such as `smtps://user:password@mail.example.org`; with a password as `{ env: NAME }`. */
  readonly server: SecretText
  readonly from: string
  readonly to: string | readonly string[]
}

/** Which problems are reported, and to which channels. */
export interface RuleInput {
  /** Default: all of them. */
  readonly on?: readonly AlertKind[] | undefined
  /** The names of channels. @minItems 1 */
  readonly channels: readonly string[]
  /** Only about these jobs; `*` stands for any text. */
  readonly jobs?: readonly string[] | undefined
  /** Only about these triggers; `*` stands for any text. */
  readonly triggers?: readonly string[] | undefined
  /** How long it waits for more notices before it sends one message about all of them; default: `10s`. */
  readonly group?: string | number | undefined
  /** For how long after a message it sends nothing more about the same job or trigger; default: `15m`. */
  readonly quiet?: string | number | undefined
}

/** A channel that was read. */
export type Channel =
  | { readonly kind: 'webhook'; readonly url: SecretText; readonly secret: SecretRef }
  | { readonly kind: 'slack' | 'discord'; readonly url: SecretRef }
  | { readonly kind: 'command'; readonly argv: readonly string[] }
  | {
      readonly kind: 'email'
      readonly server: SecretText
      readonly from: string
      readonly to: readonly string[]
    }

/** A rule that was read. */
export interface AlertRule {
  readonly name: string
  readonly on: readonly AlertKind[]
  readonly channels: readonly string[]
  readonly jobs: readonly string[] | null
  readonly triggers: readonly string[] | null
  readonly groupMs: number
  readonly quietMs: number
}

const channelKinds = ['webhook', 'slack', 'discord', 'command', 'email'] as const

/** Reads a channel; faults are noted at the place. */
export function readChannel({ name, input }: Entry, place: Place): readonly [string, Channel] | undefined {
  const before = place.faults.length
  if (!isChannelName(name)) fault(place, `${shown(name)} is not the name of a channel`, channelNameAllowed)
  const written = readOptions(input, channelKinds, place)
  if (written === undefined) return undefined
  const given = channelKinds.filter((kind) => written[kind] !== undefined)
  const [kind] = given
  if (kind === undefined || given.length > 1) {
    const found =
      kind === undefined
        ? 'it does not say where messages go'
        : `${given.join(' and ')} contradict each other`
    return fault(place, found, `exactly one of ${channelKinds.join(', ')}`)
  }
  const channel = readKind(kind, written[kind], within(place, kind))
  return place.faults.length > before || channel === undefined ? undefined : [name as string, frozen(channel)]
}

const channelNameAllowed = '1 to 64 of the characters A-Z a-z 0-9 . _ -, beginning with a letter or digit'

function readKind(kind: (typeof channelKinds)[number], value: unknown, place: Place): Channel | undefined {
  switch (kind) {
    case 'webhook': {
      const input = readOptions(value, ['url', 'secret'], place) ?? {}
      const url = readUrl(input['url'], within(place, 'url'))
      const secret = readRef(input['secret'], within(place, 'secret'))
      return url === undefined || secret === undefined ? undefined : { kind, url, secret }
    }
    case 'slack':
    case 'discord': {
      const input = readOptions(value, ['url'], place) ?? {}
      const url = readRef(input['url'], within(place, 'url'))
      return url === undefined ? undefined : { kind, url }
    }
    case 'command': {
      const isArgv =
        Array.isArray(value) && value.length > 0 && value.length <= 100 && value.every(isArgument)
      if (isArgv) return { kind, argv: value as string[] }
      return fault(
        place,
        `${shown(value)} is not a command`,
        'a list of 1 to 100 texts, such as [notify, --urgent]',
      )
    }
    case 'email':
      return readEmail(value, place)
  }
}

function isArgument(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0')
}

/** A secret is a reference: where it is kept, never its value. */
function readRef(value: unknown, place: Place): SecretRef | undefined {
  if (isMap(value)) return readSecretRef(value, place)
  return fault(place, 'a secret does not belong in a definition', '{ env: NAME } or { file: path }')
}

function readUrl(value: unknown, place: Place): SecretText | undefined {
  if (isMap(value)) return readSecretRef(value, place)
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.password === '') return value as string
  return fault(
    place,
    `${shown(value)} is not an address`,
    'an http or https URL without a password, or { env: NAME }',
  )
}

function readEmail(value: unknown, place: Place): Channel | undefined {
  const { server, from, to } = readOptions(value, ['server', 'from', 'to'], place) ?? {}
  const address = isMap(server)
    ? readSecretRef(server, within(place, 'server'))
    : readServer(server, within(place, 'server'))
  const receivers = (Array.isArray(to) ? to : [to]) as unknown[]
  for (const one of [from]) readAddress(one, within(place, 'from'))
  if (receivers.length === 0 || receivers.length > 50)
    fault(within(place, 'to'), 'it has no receiver or too many', '1 to 50 addresses')
  for (const one of receivers) readAddress(one, within(place, 'to'))
  if (address === undefined) return undefined
  return { kind: 'email', server: address, from: String(from), to: receivers.map(String) }
}

function readServer(value: unknown, place: Place): string | undefined {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url !== undefined && /^smtps?:$/.test(url.protocol) && url.password === '') return value as string
  const allowed = 'such as smtp://mail.example.org:587; with a password as { env: NAME }'
  return fault(
    place,
    url?.password ? 'a secret does not belong in a definition' : `${shown(value)} is not a mail server`,
    allowed,
  )
}

function readAddress(value: unknown, place: Place): void {
  if (typeof value === 'string' && /^[^\s@,;<>"]+@[^\s@,;<>"]+$/.test(value) && value.length <= 254) return
  fault(place, `${shown(value)} is not a mail address`, 'such as ops@example.org')
}

/** The limits of `group` and `quiet`. */
const groupBounds = { min: 0, max: 3_600_000, allowed: 'from 0s to 1h' }
const quietBounds = { min: 0, max: 7 * 86_400_000, allowed: 'from 0s to 7d' }

/** The defaults of a rule. */
export const ruleDefaults = { groupMs: 10_000, quietMs: 900_000 } as const

/** Reads a rule; faults are noted at the place. */
export function readRule({ name, input }: Entry, place: Place): AlertRule | undefined {
  const before = place.faults.length
  if (!isChannelName(name)) fault(place, `${shown(name)} is not the name of a rule`, channelNameAllowed)
  const written = readOptions(input, ['on', 'channels', 'jobs', 'triggers', 'group', 'quiet'], place)
  if (written === undefined) return undefined
  const rule = {
    name: String(name),
    on: readKinds(written['on'], within(place, 'on')),
    channels: readChannels(written['channels'], within(place, 'channels')) ?? [],
    jobs: readPatterns(written['jobs'], within(place, 'jobs')),
    triggers: readPatterns(written['triggers'], within(place, 'triggers')),
    groupMs: readDuration(written['group'], groupBounds, within(place, 'group')) ?? ruleDefaults.groupMs,
    quietMs: readDuration(written['quiet'], quietBounds, within(place, 'quiet')) ?? ruleDefaults.quietMs,
  }
  if (place.faults.length === before) refuseContradictions(rule, written, place)
  return place.faults.length > before ? undefined : frozen(rule)
}

function refuseContradictions(rule: AlertRule, written: Written, place: Place): void {
  const { on, quietMs, groupMs } = rule
  if (on.includes('recovery') && !on.includes('failure') && !on.includes('quarantined'))
    fault(within(place, 'on'), 'recovery needs failure or quarantined in `on`', 'failure, or no recovery')
  const named = written['jobs'] === undefined ? 'triggers' : 'jobs'
  if (written[named] !== undefined && written['on'] !== undefined && on.includes('worker-lost'))
    fault(
      within(place, 'on'),
      `worker-lost contradicts \`${named}\`: a worker belongs to none of them`,
      `a rule of its own for worker-lost, without ${named}`,
    )
  const own = rule.jobs?.filter((job) => job.startsWith(alertJobPrefix)) ?? []
  if (own.length > 0)
    fault(
      within(place, 'jobs'),
      `${own.join(', ')} contradicts \`channels\`: the jobs that send alerts are not reported`,
      'other jobs',
    )
  if (quietMs > 0 && quietMs < groupMs && written['quiet'] !== undefined)
    fault(
      within(place, 'quiet'),
      `it is shorter than \`group\`, so nothing would ever be quiet`,
      'at least as long as group, or 0s',
    )
}

function readKinds(value: unknown, place: Place): readonly AlertKind[] {
  if (value === undefined) return alertKinds
  if (!Array.isArray(value) || value.length === 0) {
    fault(place, `${shown(value)} is not a list of kinds`, alertKinds.join(', '))
    return []
  }
  return value.flatMap((one, index) => readChoice(one ?? '', alertKinds, within(place, index)) ?? [])
}

function readPatterns(value: unknown, place: Place): readonly string[] | null {
  if (value === undefined) return null
  const isList = Array.isArray(value) && value.length > 0 && value.length <= 1000
  if (isList && value.every((one) => typeof one === 'string' && /^[A-Za-z0-9._:@/*-]{1,128}$/.test(one)))
    return value as string[]
  fault(place, `${shown(value)} is not a list of names`, 'a list of names, in which * stands for any text')
  return null
}
