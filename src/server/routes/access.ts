/** The routes of tokens and sessions. */
import { z } from 'zod'
import { changeRecord, type AskedAudit } from '../../engine/audit-change.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import {
  change,
  changeBody,
  instant,
  instantInput,
  maybeInstant,
  page,
  pageOf,
  paging,
} from '../../wire/fields.js'
import { roles } from '../../wire/role.js'
import { route, type Route } from '../../wire/route.js'
import type { SignInAttempts } from '../access/attempts.js'
import { closeSession, cookieHeader, openSession, sessionSecretOf } from '../access/sessions.js'
import {
  callerOfToken,
  createToken,
  isTokenName,
  listTokens,
  newTokenId,
  plannedToken,
  revokeToken,
  tokenAudit,
  type TokenInfo,
} from '../access/tokens.js'
import { jsonAnswer, toResponse } from '../answer.js'
import { Refusal } from '../problem.js'

/** The parts of the app that these routes need. */
export interface AccessApp {
  store(): Promise<Store>
  now(): Instant
}

const group = 'Access'
const token = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    role: z.enum(roles),
    createdAt: instant,
    expiresAt: maybeInstant,
  })
  .meta({ id: 'Token' })
const caller = z.strictObject({ actor: z.string(), role: z.enum(roles) }).meta({ id: 'Caller' })

/** The route that returns what a caller may do. Mounted handlers also have it, without sessions. */
export function callerRoute(server: {
  readonly isReadOnly: boolean
  readonly isMounted: boolean
}): Route<AccessApp> {
  return route({
    method: 'GET',
    path: '/session',
    role: 'read',
    group,
    summary: 'Returns the caller, its role, and what the server allows.',
    about:
      'If the handler is inside another program (`mounted`), that program signs its users in and out. A caller with the cookie of a session (`signedIn`) can end it.',
    answer: caller
      .extend({ readOnly: z.boolean(), mounted: z.boolean(), signedIn: z.boolean() })
      .meta({ id: 'Session' }),
    example: {},
    handle: async ({ caller: { actor, role }, request }) => ({
      actor,
      role,
      readOnly: server.isReadOnly,
      mounted: server.isMounted,
      signedIn: !server.isMounted && sessionSecretOf(request.headers) !== undefined,
    }),
  })
}

/** Creates and revokes tokens, and signs browsers in and out. */
export function accessRoutes(attempts: SignInAttempts): readonly Route<AccessApp>[] {
  return [
    route({
      method: 'GET',
      path: '/tokens',
      role: 'admin',
      group,
      summary: 'Lists the tokens; their secrets are not stored and cannot be shown.',
      query: z.strictObject(paging),
      answer: page(token),
      example: {},
      handle: async ({ app, query }) => pageOf(await listTokens(await app.store()), query, oldestFirst),
    }),
    route({
      method: 'POST',
      path: '/tokens',
      role: 'admin',
      group,
      summary: 'Creates a token. Only this answer contains its secret.',
      about: 'A dry run creates none: `token` is null.',
      body: z.strictObject({
        ...change,
        name: z
          .string()
          .refine(
            isTokenName,
            'it is not a name (letters, digits and . _ : @ / -), or stands for callers without a token',
          )
          .meta({ description: 'Under which its changes are recorded.' }),
        role: z.enum(roles),
        expires: instantInput.optional(),
      }),
      answer: token.extend({ token: z.string().nullable() }),
      status: 201,
      example: { body: { name: 'ci', role: 'operate', dryRun: true } },
      isSecret: true,
      handle: async ({ app, change: options, body: { name, role, expires } }) => {
        const now = app.now()
        const request = { id: newTokenId(), name, role, expiresAt: expires?.getTime(), now }
        if (options.dryRun === true) return plannedToken(request)
        const store = await audited(app, options, tokenAudit('token.create', request.id))
        return await createToken(store, request)
      },
    }),
    route({
      method: 'DELETE',
      path: '/tokens/{id}',
      role: 'admin',
      group,
      summary: 'Revokes a token and ends every session that was opened with it.',
      parts: z.strictObject({ id: z.string().max(64) }),
      body: changeBody,
      answer: token,
      example: { parts: { id: '0123456789ab' }, body: { reason: 'a laptop was lost', dryRun: true } },
      handle: async ({ app, parts: { id }, change: options }) => {
        const store = await audited(app, options, tokenAudit('token.revoke', id))
        return await revokeToken(store, { id, now: app.now(), dryRun: options.dryRun })
      },
    }),
    route({
      method: 'POST',
      path: '/session',
      role: 'none',
      group,
      summary: 'Exchanges a token for the cookie of a session, for browsers.',
      body: z.strictObject({ token: z.string().max(512) }),
      answer: caller,
      example: { body: { token: 'rota_0123456789ab_secret' } },
      handle: async ({ app, body, request, connection: { peer = '' } }) => {
        const now = app.now()
        attempts.check(peer, now)
        const found = await callerOfToken(await app.store(), { token: body.token, now })
        if (found === undefined) {
          attempts.failed(peer, now)
          throw new Refusal('NOT_SIGNED_IN', 'the token is unknown, revoked or expired')
        }
        const { actor, role, tokenId } = found
        const audit = { action: 'session.open', target: `token:${tokenId}`, subjects: [] }
        const store = await audited(app, { by: actor, via: 'api' }, audit)
        const secret = await openSession(store, { tokenId, now })
        const headers = { 'set-cookie': cookieHeader(secret, placeOf(request)) }
        return toResponse(jsonAnswer({ actor, role }, 200, headers))
      },
    }),
    route({
      method: 'DELETE',
      path: '/session',
      role: 'none',
      group,
      summary: 'Ends the session of a browser.',
      answer: z.strictObject({ ended: z.boolean() }),
      example: {},
      handle: async ({ app, request }) => {
        const secret = sessionSecretOf(request.headers)
        if (secret !== undefined) await closeSession(await app.store(), { secret, now: app.now() })
        const headers = { 'set-cookie': cookieHeader(undefined, placeOf(request)) }
        return toResponse(jsonAnswer({ ended: secret !== undefined }, 200, headers))
      },
    }),
  ]
}

/** The store, with an audit entry for its next change. */
async function audited(app: AccessApp, options: ChangeOptions, audit: AskedAudit): Promise<Store> {
  const author = { by: 'nobody', via: 'api' } as const
  return (await app.store()).audited(changeRecord([audit], { options, author, now: app.now() }))
}

/** The path of the cookie: the mount path of the handler. */
function placeOf(request: Request): { path: string; isSecure: boolean } {
  const { pathname, protocol } = new URL(request.url)
  // A proxy speaks TLS for a server that does not. Whoever lies here only loses his own cookie.
  const [forwarded] = (request.headers.get('x-forwarded-proto') ?? '').split(',')
  const mount = pathname.slice(0, pathname.indexOf('/api/v1/'))
  return { path: `${mount}/`, isSecure: protocol === 'https:' || forwarded?.trim() === 'https' }
}

/** A key by which tokens are ordered, the oldest first. */
function oldestFirst({ createdAt, id }: TokenInfo): string {
  return `${String(createdAt).padStart(16, '0')} ${id}`
}
