/**
 * Which browser pages may talk to the server. A page of another site can make a browser send requests, but it cannot
 * forge these headers. Programs do not send them.
 */
import { Refusal } from '../problem.js'

/** Refuses a request whose `Host` is not a name of the server: a foreign name that points here is an attack by DNS. */
export function checkHost(headers: Headers, isOurs: (hostname: string) => boolean): void {
  const host = headers.get('host') ?? ''
  if (isOurs(hostnameOf(host))) return
  throw new Refusal('HOST_REFUSED', `requests for the host ${JSON.stringify(host)} are not answered here`)
}

/** Whether a name always means this machine. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/** The name in a `Host` header, without its port. */
function hostnameOf(host: string): string {
  const [, name = ''] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(host) ?? []
  return name.toLowerCase()
}

/** What sent a request: a page of this server, another page, or a program. */
export type Sender = 'own page' | 'foreign page' | 'program'

/** What sent a request. On plain HTTP to another machine browsers omit `Sec-Fetch-Site`; then `Origin` must match. */
export function senderOf(headers: Headers): Sender {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' || site === 'none' ? 'own page' : 'foreign page'
  const origin = headers.get('origin')
  if (origin === null) return 'program'
  const host = hostOf(origin)
  return host !== undefined && host === headers.get('host')?.toLowerCase() ? 'own page' : 'foreign page'
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host
  } catch {
    return undefined
  }
}
