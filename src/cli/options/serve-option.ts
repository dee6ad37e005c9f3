import type { App } from '../../app/rota.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { quotedText } from '../../text/error-text.js'
import type { Opened, UpExtension } from '../../features/up-extension.js'
import { rateBounds, type ListenOptions } from '../../app/serve/app-handler.js'
import type { Surroundings } from '../framework/command.js'
import { usageError } from '../framework/usage-error.js'

/** The options of `rota up` for the HTTP API. */
export const serveOption: UpExtension<App> = {
  options: [
    {
      name: 'port',
      value: 'number',
      help: 'the port of the HTTP API; default: 7070, or one of the next nine if it is taken; 0: any free one',
      whole: [0, 65_535],
    },
    {
      name: 'host',
      value: 'address',
      help: 'the address of the HTTP API; default: 127.0.0.1. Others need a token',
    },
    { name: 'read-only', help: 'serve no changes' },
    {
      name: 'requests-per-second',
      value: 'number',
      help: 'the most requests of one caller in a second; default: 5000',
      whole: [rateBounds.min, rateBounds.max],
    },
    { name: 'no-serve', help: 'serve no HTTP API' },
  ],
  examples: { 'rota up --port 8080': 'serve the HTTP API on another port' },
  read: ({ args }) => {
    const [port, host, readOnly] = [args.whole('port'), args.text('host'), args.flag('read-only')]
    const requestsPerSecond = args.whole('requests-per-second')
    if (host !== undefined && !isAddress(host)) {
      const message = `${quotedText(host)} is not an address or the name of a host`
      throw usageError([{ path: '--host', message }], 'see `rota up --help`')
    }
    const isLimited = requestsPerSecond !== undefined
    const isAsked = port !== undefined || host !== undefined || readOnly || isLimited || isRoleApi(args)
    if (args.flag('no-serve')) {
      if (!isAsked) return undefined
      const message =
        'cannot be combined with --port, --host, --read-only, --requests-per-second or --role api'
      throw usageError([{ path: '--no-serve', message }], 'see `rota up --help`')
    }
    const given = { port, host, readOnly: readOnly ? true : undefined, requestsPerSecond }
    return { open: async (app) => await opened(app, given, isAsked) }
  },
}

/** Names have at most 253 characters; the system resolves them. */
function isAddress(text: string): boolean {
  return text.length <= 253 && /^[\w.:%-]+$/.test(text)
}

function isRoleApi(args: Surroundings['args']): boolean {
  return args.list('role').some((text) => text.split(',').some((word) => word.trim() === 'api'))
}

/** Listens. If the default address is taken, the engine starts without it. */
async function opened(app: App, given: ListenOptions, isAsked: boolean): Promise<Opened | undefined> {
  if (!isAsked && !app.isServed) return undefined
  try {
    const { host, port } = await app.listen(given)
    const base = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
    return {
      text: `  dashboard: ${base}/\n  serves the API at ${base}/api/v1`,
      event: 'serving',
      data: { host, port },
    }
  } catch (error) {
    if (isAsked || !(error instanceof RotaError) || error.code !== 'LISTEN_FAILED') throw error
    const { code, message } = error
    return { text: `  serves no API: ${message}`, event: 'not-serving', data: { code, message } }
  }
}
