import { RotaError } from '../../kernel/definition/errors.js'
import { isLoopbackName } from '../../server/access/origin.js'
import { listTokens } from '../../server/access/tokens.js'
import { HttpServer, type Address } from '../../server/listen.js'
import type { ListenOptions, Served } from './app-handler.js'
import type { AppParts } from './served.js'

/** Serves an app on an address of its own, until it stops. What the server needs is loaded with the first request. */
export async function listen(parts: AppParts, options: ListenOptions): Promise<Address> {
  const { host = '127.0.0.1', readOnly } = options
  const { context } = parts
  const isLoopback = isLoopbackName(host.includes(':') ? `[${host}]` : host)
  if (!isLoopback) await assertToken(parts, host)
  let served: Promise<Served> | undefined
  const load = (): Promise<Served> => {
    served ??= import('./served.js').then(({ serve }) => serve(parts, { isLoopback, readOnly }))
    // A store that is away now may be back with the next request.
    served.catch(() => (served = undefined))
    return served
  }
  const server = new HttpServer(
    async (request, response) => {
      try {
        await (await load()).node(request, response)
      } catch (error) {
        context.events.emit('trouble', { where: 'serving', error, retryInMs: 0 })
        response.writeHead(503, { 'retry-after': '5' }).end()
      }
    },
    { clock: context.clock },
  )
  const address = await bound(server, host, options.port)
  context.join({
    stop: async () => {
      await (await served?.catch(() => undefined))?.close()
      await server.close()
    },
  })
  return address
}

/** The port that is served where none is named. Nobody has registered it. */
const usualPort = 7070

/** How many ports are tried where none is named: several programs on one machine are usual. */
const mostTried = 10

async function bound(server: HttpServer, host: string, port: number | undefined): Promise<Address> {
  if (port !== undefined) return await server.listen({ host, port })
  for (let i = 0; ; i += 1) {
    try {
      return await server.listen({ host, port: usualPort + i })
    } catch (error) {
      if (!isInUse(error)) throw error
      if (i + 1 < mostTried) continue
      const message = `the ports ${usualPort} to ${usualPort + i} of ${host} are in use`
      throw new RotaError('LISTEN_FAILED', message, { cause: error })
    }
  }
}

function isInUse(error: unknown): boolean {
  return ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'
}

async function assertToken({ context }: AppParts, host: string): Promise<void> {
  if ((await listTokens(await context.store())).length > 0) return
  const message = `listening on ${host} needs a token, and there is none; \`rota token create <name>\` makes one`
  throw new RotaError('TOKEN_UNKNOWN', message)
}
