/**
 * The address of a page is the hash: `#/runs?state=failed`. It needs no routes on the server, so that the dashboard works
 * under any mount path. Filters, ranges, the zone and the selection are all in it.
 */
import { useSyncExternalStore } from 'react'

/** Parameters that stay when a reader follows a link. */
const sticky = ['zone'] as const

/** The path of the page, and how to go elsewhere; for wouter. */
export function useHashPath(): [string, (to: string, options?: { replace?: boolean }) => void] {
  return [useSyncExternalStore(subscribe, currentPath), go]
}

/** The query of the page, without a question mark; for wouter. */
export function useHashSearch(): string {
  return useSyncExternalStore(subscribe, currentSearch)
}

/** The parameters of the address, and how to change some of them; null removes one. */
export function useParams(): readonly [URLSearchParams, typeof changeParams] {
  const search = useHashSearch()
  return [new URLSearchParams(search), changeParams]
}

/** Changes some parameters of the address; null removes one. */
export function changeParams(
  changes: Readonly<Record<string, string | null>>,
  options?: { replace?: boolean },
): void {
  go(`${currentPath()}${withChanges(currentSearch(), changes)}`, options)
}

/** Goes to another address inside the dashboard. */
export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  const href = hrefOf(to)
  if (href === location.hash) return
  if (replace) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  tell()
}

/** The `href` of a link to an address inside the dashboard. */
export function hrefOf(to: string): string {
  const [path = '/', search = ''] = split(to)
  const params = new URLSearchParams(search)
  const current = new URLSearchParams(currentSearch())
  for (const name of sticky) {
    const value = current.get(name)
    if (value !== null && !params.has(name) && !search.includes(`${name}=`)) params.set(name, value)
  }
  const empty = Array.from(params).filter(([, value]) => value === '')
  for (const [name] of empty) params.delete(name)
  return `#${path}${asSearch(params)}`
}

function withChanges(search: string, changes: Readonly<Record<string, string | null>>): string {
  const params = new URLSearchParams(search)
  // An empty text removes a sticky parameter, which would otherwise come back.
  for (const [name, value] of Object.entries(changes)) params.set(name, value ?? '')
  return asSearch(params)
}

function asSearch(params: URLSearchParams): string {
  // What a reader can read stays readable: `state:failed`, not `state%3Afailed`.
  const text = params.toString().replaceAll('%3A', ':').replaceAll('%2F', '/').replaceAll('%2C', ',')
  return text === '' ? '' : `?${text}`
}

function currentPath(): string {
  const [path = '/'] = split(location.hash.slice(1))
  return path.startsWith('/') ? path : `/${path}`
}

function currentSearch(): string {
  return split(location.hash.slice(1))[1] ?? ''
}

function split(text: string): readonly string[] {
  const at = text.indexOf('?')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

const listeners = new Set<() => void>()
const browserEvents = ['hashchange', 'popstate']

/** Every link of a page listens: all of them share the listeners of the window. */
function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) for (const name of browserEvents) addEventListener(name, tell)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) for (const name of browserEvents) removeEventListener(name, tell)
  }
}

function tell(): void {
  for (const listener of listeners) listener()
}
