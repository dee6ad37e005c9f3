import { RotaError } from '../../kernel/definition/errors.js'
import { isLoopbackName } from '../../server/access/origin.js'
import { listTokens } from '../../server/access/tokens.js'
import { HttpServer, type Address } from '../../server/listen.js'
import type { FetchHandler } from '../../server/handler.js'
import type { ApiProcessOptions } from './api-process-of.js'
import { assertRate, type ListenOptions, type Served } from './app-handler.js'
import type { AppParts, ServeOptions } from './served.js'

/** Serves an app on its own address, until it stops. The server is loaded with the first request. */
export async function listen(parts: AppParts, options: ListenOptions): Promise<Address> {
  assertRate(options)
  const { host = '127.0.0.1', port, readOnly, requestsPerSecond } = options
  const isLoopback = isLoopbackName(host.includes(':') ? `[${host}]` : host)
  if (!isLoopback) await assertToken(parts, host)
  const asked = { host, port, isLoopback, readOnly, requestsPerSecond }
  const { storeForReader } = parts.context
  return storeForReader === undefined
    ? await listenHere(parts, asked)
    : await listenInProcess(parts, { ...asked, store: storeForReader })
}

/** Where an app listens, and to whom. */
interface Asked {
  readonly host: string
  readonly port: number | undefined
  readonly isLoopback: boolean
  readonly readOnly: boolean | undefined
  readonly requestsPerSecond: number | undefined
}

/** Another process listens and answers reads; this one answers the rest. */
async function listenInProcess(
  parts: AppParts,
  { store, readOnly, ...place }: Asked & Pick<ApiProcessOptions, 'store'>,
): Promise<Address> {
  const { context } = parts
  const { ApiProcess } = await import('./api-process-of.js')
  const rest = new LoadedServer(parts, () => ({
    isLoopback: place.isLoopback,
    readOnly,
    other: { process: reader, isApp: false },
  }))
  const reader = new ApiProcess({ context, store, readOnly, listen: place, answer: rest.fetch })
  const address = await reader.listen()
  const undo = (['tick', 'run:started', 'run:ended', 'run:lost'] as const).map((name) =>
    context.events.on(name, () => reader.wake()),
  )
  context.join({
    stop: async () => {
      for (const stop of undo) stop()
      await reader.stop()
      await rest.close()
    },
  })
  return address
}

/** This process listens, and answers all requests. */
async function listenHere(parts: AppParts, { host, port, ...rules }: Asked): Promise<Address> {
  const { context } = parts
  const all = new LoadedServer(parts, () => rules)
  const server = new HttpServer(
    async (request, response) => {
      try {
        await (await all.load()).node(request, response)
      } catch {
        response.writeHead(503, { 'retry-after': '5' }).end()
      }
    },
    { clock: context.clock },
  )
  const address = await server.listenAt({ host, port })
  context.join({
    stop: async () => {
      await all.close()
      await server.close()
    },
  })
  return address
}

/** The server of an app, loaded on first use. */
class LoadedServer {
  readonly #parts: AppParts
  readonly #options: () => ServeOptions
  #served: Promise<Served> | undefined

  constructor(parts: AppParts, options: () => ServeOptions) {
    this.#parts = parts
    this.#options = options
  }

  readonly fetch: FetchHandler = async (request, connection) =>
    await (await this.load()).fetch(request, connection)

  load(): Promise<Served> {
    this.#served ??= import('./served.js').then(({ serve }) => serve(this.#parts, this.#options()))
    // A store that cannot be reached now may be back with the next request.
    this.#served.catch((error: unknown) => {
      this.#served = undefined
      this.#parts.context.events.emit('trouble', { where: 'serving', error, retryInMs: 0 })
    })
    return this.#served
  }

  async close(): Promise<void> {
    await (await this.#served?.catch(() => undefined))?.close()
  }
}

async function assertToken({ context }: AppParts, host: string): Promise<void> {
  const tokens = await listTokens(await context.store())
  if (tokens.some(({ expiresAt = Infinity }) => context.now() < expiresAt)) return
  const message = `listening on ${host} needs a token, and there is none${tokens.length > 0 ? ' that is still valid' : ''}; \`rota token create <name>\` creates one`
  throw new RotaError('TOKEN_UNKNOWN', message)
}
