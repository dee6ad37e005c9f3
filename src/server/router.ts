import { TrieRouter } from 'hono/router/trie-router'
import type { Method, Route } from '../wire/route.js'
import { Refusal } from './problem.js'

/** A route that matches a request, with the parts of its path. */
export interface Match<App> {
  readonly route: Route<App>
  readonly parts: Readonly<Record<string, string>>
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Finds the route of a request by its method and its path; throws if there is none. */
export function router<App>(routes: readonly Route<App>[]): (method: string, path: string) => Match<App> {
  const tree = new TrieRouter<Route<App>>()
  // Of two routes that match, the first one counts: `/runs/counts` comes before `/runs/{id}`.
  const sorted = routes.toSorted((one, other) => openParts(one) - openParts(other))
  for (const route of sorted) tree.add(route.method, route.path.replace(/\{(\w+)\}/g, ':$1'), route)
  const find = (method: string, path: string): Match<App> | undefined => {
    const [[first] = []] = tree.match(method, path)
    return first === undefined
      ? undefined
      : { route: first[0], parts: decoded(first[1] as Record<string, string>) }
  }
  return (method, path) => {
    // HEAD is answered by the route of GET.
    const found = find(method === 'HEAD' ? 'GET' : method, path)
    if (found !== undefined) return found
    const allowed = methods.filter((other) => find(other, path) !== undefined)
    if (allowed.length === 0) throw new Refusal('ROUTE_UNKNOWN', `there is no route ${JSON.stringify(path)}`)
    const message = `${method} is not a method of ${path}; it has ${allowed.join(', ')}`
    throw new Refusal('METHOD_NOT_ALLOWED', message, { headers: { allow: allowed.join(', ') } })
  }
}

function openParts({ path }: Route): number {
  return path.split('{').length
}

function decoded(parts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  try {
    return Object.fromEntries(Object.entries(parts).map(([key, text]) => [key, decodeURIComponent(text)]))
  } catch {
    throw new Refusal('REQUEST_MALFORMED', 'a part of the path has an escape that is not UTF-8')
  }
}
