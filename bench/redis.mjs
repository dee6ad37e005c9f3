// A private Redis server with an append-only file that is synced every second; removed after the measurement.
import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { sleep } from './measure.mjs'

/** Starts the installed Redis on a free port; undefined if it is not installed. */
export async function startRedis(directory) {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined
  const port = await freePort()
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: directory,
    save: '',
    appendonly: 'yes',
    appendfsync: 'everysec',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const server = spawn('redis-server', flags, { stdio: 'ignore' })
  const stop = () => {
    if (server.exitCode !== null) return undefined
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGTERM')
    return ended
  }
  process.once('exit', () => server.kill('SIGKILL'))
  await untilReady(port)
  return { port, stop }
}

async function untilReady(port) {
  const { Redis } = await import('ioredis')
  const client = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null, retryStrategy: () => 20 })
  client.on('error', () => undefined)
  while ((await client.ping().catch(() => '')) !== 'PONG') await sleep(20)
  await client.quit()
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
