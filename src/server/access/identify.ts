import type { Instant } from '../../time/instant.js'
import type { Caller, Connection, Route } from '../../wire/route.js'
import { Refusal } from '../problem.js'
import type { Entries } from './known-entries.js'
import { checkHost, isLoopbackName, senderOf } from './origin.js'
import { callerOfSession, sessionSecretOf } from './sessions.js'
import { callerOfToken, localActor, unknownActor } from './tokens.js'

/** The options for identifying callers. */
export interface IdentifyOptions {
  /** The tokens and sessions for a request. */
  readonly entries: (request: Request) => Promise<Entries>
  readonly now: () => Instant
  /** Whether the server listens on this machine only: callers on it then need no token. */
  readonly isLoopback: boolean
  /** The hosts for which requests are answered; default: on this machine only its own names, elsewhere any. */
  readonly hosts?: readonly string[] | undefined
}

/** Returns who makes a request of a route that needs a role, or refuses it. */
export type Identify = (request: Request, connection: Connection, role: Route['role']) => Promise<Caller>

/** Returns who makes a request: the owner of a token or a session, or a user of this machine. */
export function identifier(options: IdentifyOptions): Identify {
  const { isLoopback, hosts } = options
  const isOurs = (hostname: string): boolean =>
    (isLoopback && isLoopbackName(hostname)) || (hosts === undefined ? !isLoopback : hosts.includes(hostname))
  return async (request, { peer = '' }, role) => {
    const { headers, method } = request
    checkHost(headers, isOurs)
    const authorization = headers.get('authorization')
    if (authorization !== null) {
      const [, token = ''] = /^Bearer (\S+)$/i.exec(authorization) ?? []
      const caller = await callerOfToken(await options.entries(request), { token, now: options.now() })
      if (caller !== undefined) return caller
      throw notSignedIn('the token is unknown, revoked or expired')
    }
    const secret = sessionSecretOf(headers)
    if (secret !== undefined) {
      const caller = await callerOfSession(await options.entries(request), { secret, now: options.now() })
      // A browser sends the cookie for every page, so a change must prove that it comes from a page of this server.
      const isOwn = method === 'GET' || method === 'HEAD' || senderOf(headers) === 'own page'
      if (caller !== undefined && isOwn) return caller
    }
    if (isLoopback && isLoopbackPeer(peer) && !isForwarded(headers)) return local
    if (role === 'none') return nobody
    throw notSignedIn('a token is needed')
  }
}

/** A caller on this machine may do what the user of the server may. */
const local: Caller = { actor: localActor, role: 'admin' }

/** A caller who has not signed in and may only do that. */
const nobody: Caller = { actor: unknownActor, role: 'none' }

function isLoopbackPeer(peer: string): boolean {
  return peer === '::1' || /^(?:::ffff:)?127\./.test(peer)
}

/** Whether a proxy forwarded the request: then its peer is the proxy, not the caller. */
function isForwarded(headers: Headers): boolean {
  return ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some((name) =>
    headers.has(name),
  )
}

function notSignedIn(message: string): Refusal {
  return new Refusal('NOT_SIGNED_IN', message, { headers: { 'www-authenticate': 'Bearer' } })
}
