// What serving costs the scheduler: how late runs start while nobody asks, and while clients read and listen.
// One process plans, performs and serves; another one asks. The phases alternate.
// Usage: node bench/serving.mjs [--reads=2000] [--streams=100] [--seconds=15] [--rounds=3] [--triggers=50]
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fromDist, percentile, sleep } from './measure.mjs'

const { values } = parseArgs({
  options: Object.fromEntries(
    [
      ['reads', 2000],
      ['streams', 100],
      ['seconds', 15],
      ['rounds', 3],
      ['triggers', 50],
    ].map(([name, usual]) => [name, { type: 'string', default: String(usual) }]),
  ),
})
const { reads, streams, seconds, rounds, triggers } = Object.fromEntries(
  Object.entries(values).map(([name, text]) => [name, Number(text)]),
)

const directory = mkdtempSync(join(tmpdir(), 'rota-bench-'))
process.env.XDG_STATE_HOME = directory
const { rota } = await fromDist('index.js')
let lateness = []
const app = rota({ store: `sqlite:${join(directory, 'rota.db')}`, concurrency: 100 })
app.job('noop', (run) => void lateness.push(Date.now() - run.dueAt.getTime()))
for (let i = 0; i < triggers; i += 1) app.schedule(`every-second-${i}`, { job: 'noop', cron: '* * * * * *' })
await app.start()
const { port } = await app.listen({ port: 0 })
const clients = fork(fileURLToPath(new URL('serving-clients.mjs', import.meta.url)), {
  env: { ...process.env, PORT: String(port), READS: String(reads), STREAMS: String(streams) },
})

try {
  await phase('warm up', true)
  const found = { quiet: [], asked: [] }
  for (let round = 0; round < rounds; round += 1) {
    found.quiet.push(await phase('quiet', false))
    found.asked.push(await phase(`${reads} reads a second, ${streams} streams`, true))
  }
  const ratios = found.asked.map(({ p99 }, i) => p99 / found.quiet[i].p99)
  console.log(`lateness p99 while asked, against quiet: ${ratios.map((one) => one.toFixed(2)).join(', ')}`)
} finally {
  clients.kill()
  await app.stop({ grace: 0 })
  rmSync(directory, { recursive: true, force: true })
}

/** Lets some seconds pass, with or without clients, and says how late runs started. */
async function phase(name, isAsked) {
  clients.send(isAsked ? 'start' : 'stop')
  await sleep(1500)
  lateness = []
  await sleep(seconds * 1000)
  const [p50, p99] = [percentile(lateness, 0.5), percentile(lateness, 0.99)]
  const told = isAsked
    ? await new Promise((resolve) => {
        clients.once('message', resolve)
        clients.send('tell')
      })
    : undefined
  const answered =
    told === undefined
      ? ''
      : `, ${Math.round(told.perSecond)} answers a second, ${told.failed} failed, ${told.events} events`
  console.log(`${name}: ${lateness.length} runs, late by p50 ${p50} ms, p99 ${p99} ms${answered}`)
  return { p50, p99 }
}
