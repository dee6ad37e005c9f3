/** The tools that an agent can call: the routes with a tool name, each with one flat list of arguments. */
import { z } from 'zod'
import { includesRole, type Role } from '../../wire/role.js'
import type { Route, Shape } from '../../wire/route.js'
import { apiPath } from '../handler.js'
import { Refusal } from '../problem.js'
import { readAs } from '../read-request.js'

/** A tool, as the Model Context Protocol lists it. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: {
    readonly type: 'object'
    readonly properties: Record<string, object>
    readonly required: string[]
    readonly additionalProperties: false
  }
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean }
}

/** The routes that a role can call as tools, by name. */
export function toolRoutes<App>(routes: readonly Route<App>[], role: Role): ReadonlyMap<string, Route<App>> {
  const allowed = routes.filter((route) => includesRole(role, route.role))
  return new Map(allowed.flatMap((route) => (route.tool === undefined ? [] : [[route.tool, route]])))
}

/** Describes a route as a tool. */
export function toolOf<App>(name: string, route: Route<App>): Tool {
  const { summary, about, parts, query, body } = route
  const schemas = [parts, query, body].flatMap((shape) => (shape === undefined ? [] : [schemaOf(shape)]))
  const required = schemas.flatMap((schema) => schema.required)
  const changes = isChange(route)
  return {
    name,
    description: [summary, about].filter(Boolean).join(' '),
    inputSchema: {
      type: 'object',
      properties: Object.assign({}, ...schemas.map(({ properties }) => properties)),
      required: changes ? [...new Set([...required, 'reason'])] : required,
      additionalProperties: false,
    },
    annotations: { readOnlyHint: !changes, destructiveHint: changes },
  }
}

/** The request of a tool call. The route checks its arguments; here only the path and the reason are required. */
export function requestOf<App>(route: Route<App>, given: Readonly<Record<string, unknown>>): Request {
  if (isChange(route) && !hasReason(given)) {
    throw new Refusal('REQUEST_INVALID', 'a change needs a `reason`, which is recorded with it')
  }
  const { method, parts, query } = route
  if (parts !== undefined) readAs(parts, pick(given, keysOf(parts)), 'arguments')
  const path = route.path.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(textOf(given[part])))
  const [inPath, inQuery] = [keysOf(parts), keysOf(query)]
  // Unknown arguments are passed on, so that the route refuses them by name.
  const rest = Object.entries(given).filter(([key]) => !inPath.has(key))
  const isRead = method === 'GET'
  const asked = rest.filter(([key]) => isRead || inQuery.has(key)).flatMap(pairsOf)
  const search = new URLSearchParams(asked).toString()
  const url = `http://localhost${apiPath}${path}${search === '' ? '' : `?${search}`}`
  if (isRead) return new Request(url, { method })
  const sent = Object.fromEntries(rest.filter(([key]) => !inQuery.has(key)))
  return new Request(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(sent),
  })
}

/** A route that needs more than the role read changes something; a preview is a POST and changes nothing. */
function isChange<App>({ role }: Route<App>): boolean {
  return role === 'operate' || role === 'admin'
}

function hasReason({ reason }: Readonly<Record<string, unknown>>): boolean {
  return typeof reason === 'string' && reason.trim() !== ''
}

function schemaOf(shape: Shape): { properties: Record<string, object>; required: string[] } {
  const { properties, required } = z.toJSONSchema(shape, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  })
  return { properties: (properties ?? {}) as Record<string, object>, required: required ?? [] }
}

function pick(given: Readonly<Record<string, unknown>>, keys: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(given).filter(([key]) => keys.has(key)))
}

function keysOf(shape: Shape | undefined): ReadonlySet<string> {
  return new Set(Object.keys(shape?.shape ?? {}))
}

function pairsOf([key, value]: readonly [string, unknown]): [string, string][] {
  const values = Array.isArray(value) ? value : [value]
  return values.filter((one) => one !== undefined && one !== null).map((one) => [key, textOf(one)])
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
