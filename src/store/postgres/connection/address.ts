import { RotaError } from '../../../kernel/definition/errors.js'
import { shown as shownText } from '../../../kernel/definition/faults.js'
import type { Prepare } from './database.js'

/** The parts of an address. */
export interface Address {
  /** The name of the store in messages: the address without its password. */
  readonly url: string
  /** The address for the driver. */
  readonly connectionString: string
  /** The address for the listener, if given: the server itself, if the store is behind a pooler. */
  readonly listen: string | undefined
  readonly schema: string
  /** The most open connections, besides the listener's. */
  readonly connections: number
  /** Whether statements stay prepared on their connection, which not every pooler allows. */
  readonly prepare: Prepare
}

const ownOptions = ['schema', 'listen', 'connections', 'prepare']

/** The server's names have 63 bytes, and the name of the channel for hints is five longer than that of the schema. */
const longestNameBytes = 58

/** Reads `postgres://user:password@host/database?schema=rota`; removes Rota's own options from the driver's address. */
export function readAddress(given: string): Address {
  const parsed = parse(given)
  const refuse = (rule: string): RotaError => new RotaError('STORE_URL', `${shown(parsed)}: ${rule}`)
  const options = new URLSearchParams(parsed.search)
  const schema = options.get('schema') ?? 'rota'
  if (schema === '' || Buffer.byteLength(schema) > longestNameBytes || schema.includes('\0')) {
    throw refuse(`a schema has a name of 1 to ${longestNameBytes} bytes`)
  }
  const connections = Number(options.get('connections') ?? 4)
  if (!Number.isInteger(connections) || connections < 2 || connections > 100) {
    throw refuse('connections is a number from 2 to 100')
  }
  const prepare = options.get('prepare') ?? 'auto'
  if (!isPrepare(prepare)) throw refuse('prepare is on, off or auto')
  const listen = options.get('listen') ?? undefined
  if (listen !== undefined && !isAddress(listen)) {
    throw refuse('listen is an address like the store’s own, percent-encoded')
  }
  const fault = tlsModeFault(options.get('sslmode') ?? undefined)
  if (fault !== undefined) throw refuse(`sslmode ${fault}`)
  for (const name of ownOptions) options.delete(name)
  const bare = new URL(parsed)
  bare.search = options.toString()
  return {
    url: shown(parsed),
    connectionString: bare.href,
    listen,
    schema,
    connections,
    prepare,
  }
}

function isPrepare(text: string): text is Prepare {
  return text === 'on' || text === 'off' || text === 'auto'
}

const tlsModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** The fault of a TLS mode. The driver ignores an unknown mode, and then may not encrypt at all. */
export function tlsModeFault(mode: string | undefined): string | undefined {
  if (mode === undefined || mode === '' || tlsModes.includes(mode)) return undefined
  return `${shownText(mode)} is not known (allowed: ${tlsModes.join(', ')})`
}

/**
 * The address for the listener, if any. A pooler may give a listening session to another client, so behind a pooler
 * there is no listener unless the address names one.
 */
export function listenerOf({ listen, connectionString }: Address, isPooled: boolean): string | undefined {
  return listen ?? (isPooled ? undefined : connectionString)
}

/** An address without secrets, even if it is invalid. */
export function shownAddress(given: string): string {
  return isAddress(given) ? shown(parse(given)) : 'postgres://…'
}

/** The error has no cause, which would quote the address with its password. */
function parse(given: string): URL {
  if (isAddress(given)) return toUrl(given)
  throw new RotaError(
    'STORE_URL',
    'the address of a Postgres store is postgres://user:password@host:port/database?schema=rota, where signs such as # / ? @ % in a password are percent-encoded',
  )
}

function isAddress(given: string): boolean {
  try {
    const { protocol, username, password, pathname, hash } = toUrl(given)
    decodeURIComponent(username + password)
    // The text after a character that was not encoded may be the rest of a password.
    if (pathname.includes('@') || hash !== '') return false
    return protocol === 'postgres:' || protocol === 'postgresql:'
  } catch {
    return false
  }
}

/** The address of a socket may have no host, which a URL with a user must have. */
function toUrl(given: string): URL {
  return new URL(given.replace(/^([^/]*\/\/[^/?#]*@)\//, '$1localhost/'))
}

/** Options without secrets; all others are left out. */
const shownOptions = new Set(['schema', 'connections', 'prepare', 'host', 'port', 'sslmode', 'sslrootcert'])

function shown(parsed: URL): string {
  const url = new URL(parsed)
  url.password = ''
  const options = [...parsed.searchParams].filter(([name]) => shownOptions.has(name))
  url.search = new URLSearchParams(options).toString()
  return url.href
}
