/** What a mounted handler answers: the API, health, metrics, the doors that features open, and the dashboard. */
import { includesRole } from '../wire/role.js'
import type { Connection } from '../wire/route.js'
import type { Identify } from './access/identify.js'
import { problemAnswer, safeHeaders } from './answer.js'
import { apiPath, type FetchHandler } from './handler.js'
import { isKnown, Refusal } from './problem.js'
import type { StaticFiles } from './static.js'

/** The parts below one mount. */
export interface Parts {
  readonly api: FetchHandler
  readonly health: (question: 'live' | 'ready') => Promise<Response>
  readonly metrics: () => Promise<string>
  readonly identify: Identify
  /** Doors that check their callers themselves, by the first part of their path. */
  readonly doors: ReadonlyMap<string, FetchHandler>
  readonly dashboard: StaticFiles
  readonly onTrouble: (error: unknown) => void
}

/** Sends each request to the part it is for. Where the handler is mounted does not matter: only the end of the path counts. */
export function dispatcher(parts: Parts): FetchHandler {
  return async (request, connection = {}) => {
    try {
      const { pathname } = new URL(request.url)
      if (pathname.includes(`${apiPath}/`)) return await parts.api(request, connection)
      const [, question] = /\/health\/(live|ready)$/.exec(pathname) ?? []
      if (question !== undefined) return await parts.health(question as 'live' | 'ready')
      if (pathname.endsWith('/metrics')) return await metricsAnswer(parts, request, connection)
      const [, door = ''] = /\/(\w+)\/[^/]+$/.exec(pathname) ?? []
      const open = parts.doors.get(door)
      if (open !== undefined) return await open(request, connection)
      const page = await parts.dashboard(request, connection)
      if (page !== undefined) return page
      if (connection.passOn !== undefined) return connection.passOn()
      throw new Refusal('ROUTE_UNKNOWN', `there is nothing at ${JSON.stringify(pathname)}`)
    } catch (error) {
      if (!isKnown(error)) parts.onTrouble(error)
      return problemAnswer(error)
    }
  }
}

async function metricsAnswer(parts: Parts, request: Request, connection: Connection): Promise<Response> {
  const caller = await parts.identify(request, connection, 'read')
  if (!includesRole(caller.role, 'read')) throw new Refusal('NOT_ALLOWED', 'metrics need the role read')
  const headers = { ...safeHeaders, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
  return new Response(await parts.metrics(), { headers })
}
