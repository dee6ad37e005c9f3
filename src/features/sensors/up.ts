import type { Surroundings } from '../../cli/framework/command.js'
import { usageError } from '../../cli/framework/usage-error.js'
import { quotedText } from '../../text/error-text.js'
import type { UpExtension } from '../up-extension.js'
import type { Sensors } from './api.js'

/** `rota up --webhooks`: accepts signed deliveries to webhook sensors. */
export const webhooksOption: UpExtension<{ readonly sensors: Sensors }> = {
  options: [
    {
      name: 'webhooks',
      value: '[host:]port',
      help: 'accept signed deliveries at /webhooks/<sensor>; default host: this machine only',
    },
  ],
  examples: { 'rota up --webhooks 8080': 'and accept deliveries to webhook sensors' },
  read: (context) => {
    const address = addressOf(context)
    if (address === undefined) return undefined
    return {
      open: async ({ sensors }) => {
        const { host, port } = await sensors.listen(address)
        const shown = host.includes(':') ? `[${host}]` : host
        const text = `  accepts deliveries at http://${shown}:${port}/webhooks/<sensor>`
        return { text, event: 'webhooks', data: { host, port } }
      },
    }
  },
}

interface Address {
  readonly host: string
  readonly port: number
}

function addressOf({ args }: Surroundings): Address | undefined {
  const text = args.text('webhooks')
  if (text === undefined) return undefined
  const [, host = '127.0.0.1', digits] = /^(?:(\[[\d:a-fA-F.%]+\]|[\w.-]+):)?(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (Number.isInteger(port) && port <= 65_535) return { host: host.replace(/^\[(.*)\]$/, '$1'), port }
  const message = `${quotedText(text)} is not an address`
  const fault = { path: '--webhooks', message, allowed: 'a port, or a host and a port such as 0.0.0.0:8080' }
  throw usageError([fault], 'see `rota up --help`')
}
