/** The parts of a mounted handler: the API, health, metrics, the paths of features, and the dashboard. */
import { includesRole } from '../wire/role.js'
import type { Connection } from '../wire/route.js'
import type { Identify } from './access/identify.js'
import { addressOf, type RequestRate } from './access/request-rate.js'
import { problemAnswer, safeHeaders, type Answer } from './answer.js'
import { apiPath, type AnswerHandler, type FetchHandler } from './handler.js'
import type { OtherProcess } from './other-process.js'
import { isKnown, Refusal } from './problem.js'
import type { StaticFiles } from './static.js'

/** The parts below one mount. */
export interface Parts {
  readonly api: AnswerHandler
  readonly health: (question: 'live' | 'ready') => Promise<Answer>
  /** The metrics of this process. */
  readonly metrics: () => Promise<string>
  readonly identify: Identify
  /** Counts the requests for which nobody is identified. */
  readonly rate: RequestRate
  /** Doors that check their callers themselves, by the first part of their path. */
  readonly doors: ReadonlyMap<string, FetchHandler>
  readonly dashboard: StaticFiles
  /** Another process that also has a part of the metrics, and the rest of the program if `isApp`. */
  readonly other?: { readonly process: OtherProcess; readonly isApp: boolean } | undefined
  readonly onTrouble: (error: unknown) => void
}

/** Passes each request to its part. The mount path does not matter: only the end of the path counts. */
export function dispatcher(parts: Parts): AnswerHandler {
  return async (request, connection = {}) => {
    try {
      const { pathname } = new URL(request.url)
      if (pathname.includes(`${apiPath}/`)) return await parts.api(request, connection)
      const [, question] = /\/health\/(live|ready)$/.exec(pathname) ?? []
      const app = parts.other?.isApp === true ? parts.other.process : undefined
      if (question !== undefined)
        return await (app?.answer(request, connection) ?? parts.health(question as 'live' | 'ready'))
      if (pathname.endsWith('/metrics')) return await metricsAnswer(parts, request, connection)
      parts.rate.count(addressOf(connection))
      const [, door = ''] = /\/(\w+)\/[^/]+$/.exec(pathname) ?? []
      const open = parts.doors.get(door)
      if (open !== undefined) return await (app?.answer(request, connection) ?? open(request, connection))
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
  // A request from the other process already has that process's part.
  const isPart = connection.caller !== undefined || parts.other === undefined
  const rest = isPart ? '' : await metricsOf(parts.other.process, request, { ...connection, caller })
  return new Response(`${rest}${await parts.metrics()}`, { headers })
}

async function metricsOf(other: OtherProcess, request: Request, connection: Connection): Promise<string> {
  const response = await other.answer(request, connection)
  if (response.ok) return await response.text()
  throw new Refusal('NOT_ANSWERED', 'the metrics of the process could not be read')
}
