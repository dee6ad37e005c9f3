// What serving costs the scheduler: how late runs start while nobody asks, and while clients read and listen.
// An app plans, performs and serves (`app`), or leaves serving to `rota up --role api` (`api`); another process asks.
// Phases with and without clients alternate. The same clients at a server without Rota (`bare`) show how much of the
// difference is the machine's. Takes about four minutes.
// Usage: node bench/serving.mjs [--store=sqlite|postgres] [--serve=app,bare,api] [--reads=2000] [--streams=100]
//   [--seconds=10] [--rounds=3] [--triggers=50]
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { dist, fromDist, percentile, sleep } from './measure.mjs'
import { startPostgres } from './postgres-server.mjs'

const { values } = parseArgs({
  options: Object.fromEntries(
    [
      ['store', 'sqlite'],
      ['serve', 'app,bare,api'],
      ['reads', 2000],
      ['streams', 100],
      ['seconds', 10],
      ['rounds', 3],
      ['triggers', 50],
    ].map(([name, usual]) => [name, { type: 'string', default: String(usual) }]),
  ),
})
const servers = values.serve.split(',')
const [reads, streams, seconds, rounds, triggers] = [
  values.reads,
  values.streams,
  values.seconds,
  values.rounds,
  values.triggers,
].map(Number)

/** What clients ask for. */
const paths = ['/runs?limit=20', '/triggers?limit=50', '/queues', '/pulse', '/runs?state=failed', '/workers']

/** How much later the 99th percentile may be while clients ask, and which share of the reads must be answered. */
const mostRatio = 1.1
const leastShare = 0.98

const directory = mkdtempSync(join(tmpdir(), 'rota-bench-'))
process.env.XDG_STATE_HOME = directory
const postgres = values.store === 'postgres' ? await startPostgres(directory) : undefined
const store = postgres?.url ?? `sqlite:${join(directory, 'rota.db')}`
const { rota } = await fromDist('index.js')
let lateness = []
const app = rota({ store, concurrency: 100 })
app.job('noop', (run) => {
  lateness.push(performance.timeOrigin + performance.now() - run.dueAt.getTime())
})
for (let i = 0; i < triggers; i += 1) app.schedule(`every-second-${i}`, { job: 'noop', cron: '* * * * * *' })
const isMet = []

try {
  await app.start()
  console.log(`${values.store}; load of the machine at the beginning: ${loadavg()[0].toFixed(1)}`)
  const { port } = await app.listen({ port: 0 })
  if (servers.includes('app')) await compare('served by the app (`rota up`, app.listen)', port)
  if (servers.includes('bare')) {
    const bare = await bareProcess(port)
    await compare('the same answers from a server without Rota', bare.port, 'only told')
    bare.child.kill()
  }
  if (servers.includes('api')) {
    const api = await apiProcess()
    await compare('served by a second `rota up --role api`', api.port)
    api.child.kill()
    await once(api.child, 'exit')
  }
} finally {
  await app.stop({ grace: 0 })
  await postgres?.stop()
  rmSync(directory, { recursive: true, force: true })
}
if (isMet.includes(false)) process.exitCode = 1

/** Alternates quiet phases with phases in which clients ask at a port. */
async function compare(name, port, isOnlyTold) {
  console.log(`\n${name}`)
  const clients = fork(fileURLToPath(new URL('serving-clients.mjs', import.meta.url)), {
    env: {
      ...process.env,
      PORT: String(port),
      PATHS: paths.join(' '),
      READS: String(reads),
      STREAMS: String(streams),
    },
  })
  try {
    await phase(clients, 'warm up', true)
    const found = { quiet: [], asked: [] }
    const answers = []
    const ratios = []
    for (let round = 0; round < rounds; round += 1) {
      const quiet = await phase(clients, 'quiet', false)
      const asked = await phase(clients, `${reads} reads a second, ${streams} streams`, true)
      found.quiet.push(...quiet.lateness)
      found.asked.push(...asked.lateness)
      ratios.push(percentile(asked.lateness, 0.99) / percentile(quiet.lateness, 0.99))
      answers.push(asked.told)
    }
    const shown = ratios.map((one) => one.toFixed(2)).join(', ')
    console.log(`        rounds: ${shown}; their median ${percentile(ratios, 0.5).toFixed(2)}`)
    const ratio = percentile(found.asked, 0.99) / percentile(found.quiet, 0.99)
    const perSecond = Math.min(...answers.map((told) => told.perSecond))
    const failed = answers.reduce((sum, told) => sum + told.failed, 0)
    const text = `p99 while asked / p99 quiet = ${ratio.toFixed(2)}`
    if (isOnlyTold) return console.log(`        ${text}`)
    tell(ratio < mostRatio, `${text} (target: below ${mostRatio})`)
    tell(perSecond >= leastShare * reads, `answers a second = ${Math.round(perSecond)} (target: ${reads})`)
    tell(failed === 0, `failed requests = ${failed} (target: 0)`)
  } finally {
    clients.kill()
  }
}

function tell(met, text) {
  isMet.push(met)
  console.log(`  ${met ? 'pass' : 'FAIL'}  ${text}`)
}

/** Lets some seconds pass, with or without clients, and says how late runs started. */
async function phase(clients, name, isAsked) {
  clients.send(isAsked ? 'start' : 'stop')
  await sleep(1500)
  lateness = []
  const before = process.cpuUsage()
  const serverBefore = postgres?.cpuMs()
  await sleep(seconds * 1000)
  const { user, system } = process.cpuUsage(before)
  const serverMs = serverBefore === undefined ? undefined : postgres.cpuMs() - serverBefore
  const found = lateness.slice()
  const told = isAsked ? await answerOf(clients) : undefined
  const at = (share) => percentile(found, share).toFixed(1)
  const parts = [
    `${found.length} runs`,
    `late by p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
    `CPU of the process ${((user + system) / seconds / 1e4).toFixed(0)} %`,
    ...(serverMs === undefined ? [] : [`of the database ${(serverMs / seconds / 10).toFixed(1)} %`]),
    ...(told === undefined
      ? []
      : [`${Math.round(told.perSecond)} answers a second, p99 ${told.p99.toFixed(1)} ms`]),
    ...(told === undefined
      ? []
      : [`${told.failed} failed, ${told.events} events, CPU of the clients ${told.cpu} %`]),
  ]
  console.log(`  ${name}: ${parts.join('; ')}`)
  return { lateness: found, told }
}

async function answerOf(clients) {
  clients.send('tell')
  const [told] = await once(clients, 'message')
  return told
}

/** A server that gives the answers that Rota gives at this port. */
async function bareProcess(port) {
  const answers = await Promise.all(
    paths.map(async (path) => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`)
      return [`/api/v1${path}`, await response.text()]
    }),
  )
  const child = fork(fileURLToPath(new URL('serving-bare.mjs', import.meta.url)))
  child.send(answers)
  const [{ port: bare }] = await once(child, 'message')
  return { child, port: bare }
}

/** `rota up --role api` on the same store. */
async function apiProcess() {
  const command = join(dist, 'cli', 'main.js')
  const child = spawn(
    process.execPath,
    [command, 'up', '--role', 'api', '--store', store, '--port', '0', '--json'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  for await (const line of createInterface({ input: child.stdout })) {
    const { port } = JSON.parse(line)
    if (typeof port === 'number') {
      child.stdout.resume()
      return { child, port }
    }
  }
  throw new Error('`rota up --role api` ended')
}
