import { RotaError } from '../../kernel/definition/errors.js'
import type { Json } from '../../kernel/definition/json.js'
import { handlerFailed } from '../../handlers/handler-context.js'
import { maskSecrets, resolveTexts, type SecretPlaces } from '../../outbound/secrets.js'
import type { Channel } from './definition.js'
import { linesOf, type AlertMessage } from './message.js'

/** How long the mail server may take to answer. */
const patienceMs = 20_000

/** Sends a message as an e-mail. The package is loaded only now: most apps send none. */
export async function sendEmail(
  message: AlertMessage,
  { server, from, to }: Extract<Channel, { kind: 'email' }>,
  places: SecretPlaces,
): Promise<Json> {
  const mailer = await loadPackage()
  const { texts, secrets } = await resolveTexts({ server }, places)
  const url = texts['server'] ?? ''
  const hidden = [...secrets, ...(URL.canParse(url) ? [decodeURIComponent(new URL(url).password)] : [])]
  const times = { connectionTimeout: patienceMs, greetingTimeout: patienceMs, socketTimeout: patienceMs }
  try {
    const transport = mailer.createTransport({ url, ...times })
    const [subject = ''] = linesOf(message)
    const mail = {
      from,
      to: [...to],
      subject: `Rota: ${subject}`,
      text: linesOf(message).join('\n'),
      // The same for every attempt: mail programs show a repeated message once.
      messageId: `<${message.id}@rota>`,
      // Mail programs must not answer with an absence note.
      headers: { 'Auto-Submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
    }
    const { response } = await transport.sendMail(mail)
    transport.close()
    return { response: maskSecrets(response, hidden) }
  } catch (error) {
    throw handlerFailed(maskSecrets(error instanceof Error ? error.message : String(error), hidden))
  }
}

/** What is used of the package. */
interface Mailer {
  createTransport(options: Readonly<Record<string, unknown>>): {
    sendMail(mail: Readonly<Record<string, unknown>>): Promise<{ readonly response: string }>
    close(): void
  }
}

/** The package is optional, so its types may be missing too. */
const packageName: string = 'nodemailer'

async function loadPackage(): Promise<Mailer> {
  try {
    return (await import(packageName)) as Mailer
  } catch (cause) {
    throw new RotaError('PACKAGE_MISSING', 'e-mail needs the package nodemailer: npm install nodemailer', {
      cause,
    })
  }
}
