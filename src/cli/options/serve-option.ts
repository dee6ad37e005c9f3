import type { App } from '../../app/rota.js'
import type { RotaError } from '../../kernel/definition/errors.js'
import type { UpExtension } from '../../features/up-extension.js'
import { usageError } from '../framework/usage-error.js'

/** `rota up --port`: serves the HTTP API. */
export const serveOption: UpExtension<App> = {
  options: [
    {
      name: 'port',
      value: 'number',
      help: 'serve the HTTP API on this port; 0: any free one',
      whole: [0, 65_535],
    },
    {
      name: 'host',
      value: 'address',
      help: 'the address to serve on; default: 127.0.0.1. Others need a token',
    },
    { name: 'read-only', help: 'serve no changes' },
  ],
  examples: { 'rota up --port 7070': 'and serve the HTTP API on this machine' },
  read: ({ args }) => {
    const port = args.whole('port')
    const [host, readOnly] = [args.text('host'), args.flag('read-only')]
    if (port === undefined) {
      if (host !== undefined) throw withoutPort('--host')
      if (readOnly) throw withoutPort('--read-only')
      return undefined
    }
    return {
      open: async (app) => {
        const address = await app.listen({ port, host, readOnly })
        const shown = address.host.includes(':') ? `[${address.host}]` : address.host
        const text = `  serves the API at http://${shown}:${address.port}/api/v1`
        return { text, event: 'serving', data: { host: address.host, port: address.port } }
      },
    }
  },
}

function withoutPort(option: string): RotaError {
  return usageError([{ path: option, message: 'it needs --port' }], 'see `rota up --help`')
}
