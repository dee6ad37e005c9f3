import { RotaError } from '../../model/errors.js'

/** What an address says. */
export interface Address {
  /** What messages call the store: the address without its password. */
  readonly url: string
  /** What the driver connects to. */
  readonly connectionString: string
  /** What the listener connects to: the server itself where the store stands behind a transaction pooler. */
  readonly listenString: string
  readonly schema: string
  /** The most connections that are open at once, besides the listener's. */
  readonly connections: number
  /** Whether statements stay prepared on their connection, which not every pooler allows. */
  readonly prepare: boolean
}

const ownOptions = ['schema', 'listen', 'connections', 'prepare']

/** Reads `postgres://user:password@host/database?schema=rota`, with the options that are Rota's own taken out. */
export function readAddress(given: string): Address {
  const parsed = parse(given)
  const options = new URLSearchParams(parsed.search)
  const schema = options.get('schema') ?? 'rota'
  if (schema === '' || schema.length > 63 || schema.includes('\0')) {
    throw new RotaError('STORE_URL', `${shown(parsed)}: a schema has a name of 1 to 63 characters`)
  }
  const connections = Number(options.get('connections') ?? 4)
  if (!Number.isInteger(connections) || connections < 2 || connections > 100) {
    throw new RotaError('STORE_URL', `${shown(parsed)}: connections is a number from 2 to 100`)
  }
  const listen = options.get('listen')
  for (const name of ownOptions) options.delete(name)
  const bare = new URL(parsed)
  bare.search = options.toString()
  return {
    url: shown(parsed),
    connectionString: bare.href,
    listenString: listen ?? bare.href,
    schema,
    connections,
    prepare: parsed.searchParams.get('prepare') === 'on',
  }
}

function parse(given: string): URL {
  try {
    return new URL(given)
  } catch (cause) {
    const message =
      'the address of a Postgres store is postgres://user:password@host:port/database?schema=rota'
    throw new RotaError('STORE_URL', message, { cause })
  }
}

function shown(parsed: URL): string {
  const url = new URL(parsed)
  url.password = ''
  url.searchParams.delete('listen')
  url.searchParams.delete('password')
  return url.href
}
