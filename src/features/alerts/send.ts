import { createHmac } from 'node:crypto'
import { boundText } from '../../kernel/definition/bounds.js'
import type { Json } from '../../kernel/definition/json.js'
import { alertJobPrefix } from '../../kernel/alert/notice.js'
import { performShell } from '../../handlers/perform-shell.js'
import { postTo } from '../../handlers/post-to.js'
import { resolveTexts, type SecretPlaces } from '../../outbound/secrets.js'
import type { Clock } from '../../time/clock.js'
import { parseInstant, type Instant } from '../../time/instant.js'
import type { Channel } from './definition.js'
import { linesOf, payloadOf, type AlertMessage } from './message.js'

/** What sending needs besides the message. */
export interface SendContext extends SecretPlaces {
  readonly clock: Clock
  readonly now: () => Instant
  readonly directory: string
  readonly signal: AbortSignal
  readonly attempt: number
  readonly log: (text: string) => void
}

/** Sends a message through a channel. Resolves with the answer of the receiver; throws if it refused. Neither contains secrets. */
export async function send(
  message: AlertMessage,
  { name, channel }: { readonly name: string; readonly channel: Channel },
  context: SendContext,
): Promise<Json> {
  switch (channel.kind) {
    case 'webhook':
      return await sendWebhook(message, channel, context)
    case 'slack':
      return await postTo(channel.url, { body: JSON.stringify({ text: slackText(message) }) }, context)
    case 'discord': {
      const body = { content: boundText(linesOf(message).join('\n'), 1900), allowed_mentions: { parse: [] } }
      return await postTo(channel.url, { body: JSON.stringify(body) }, context)
    }
    case 'command':
      return await runCommand(message, { name, argv: channel.argv }, context)
    case 'email': {
      const { sendEmail } = await import('./email.js')
      return await sendEmail(message, channel, context)
    }
  }
}

/** Slack reads `<`, `>` and `&` as markup. */
function slackText(message: AlertMessage): string {
  const [title = '', ...lines] = linesOf(message).map((line) =>
    line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  )
  return boundText([`*${title.replaceAll('*', '')}*`, ...lines].join('\n'), 3900)
}

/** Signed by the Standard Webhooks rules. The id is the same for every attempt, so that a receiver can drop a second one. */
async function sendWebhook(
  message: AlertMessage,
  { url, secret }: Extract<Channel, { kind: 'webhook' }>,
  context: SendContext,
): Promise<Json> {
  const { texts, secrets } = await resolveTexts({ secret }, context)
  const body = JSON.stringify(payloadOf(message))
  const time = String(Math.floor(context.now() / 1000))
  const key = keyOf(texts['secret'] ?? '')
  const signature = createHmac('sha256', key).update(`${message.id}.${time}.${body}`).digest('base64')
  const headers = {
    'webhook-id': message.id,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${signature}`,
  }
  return await postTo(url, { body, headers, secrets }, context)
}

/** The key of a secret: base64 behind `whsec_`, otherwise its own bytes. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
}

async function runCommand(
  message: AlertMessage,
  { name, argv }: { readonly name: string; readonly argv: readonly string[] },
  { clock, environment, directory, signal, attempt, log }: SendContext,
): Promise<Json> {
  const run = {
    id: message.id,
    job: `${alertJobPrefix}${name}`,
    trigger: undefined,
    attempt,
    isLastAttempt: false,
    dueAt: parseInstant(message.at),
    partition: undefined,
    payload: payloadOf(message),
  }
  return await performShell(
    { kind: 'shell', argv },
    { run, clock, environment, directory, signal, log: (_level, text) => log(text) },
  )
}
