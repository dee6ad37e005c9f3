// All measurements in one run, with the ratios: absolute figures differ between machines and between hours, so only
// ratios of one run are meaningful.
//
//   node bench/run.mjs [--only=queue,postgres,cron,timers,sensors,s3,startup,cold,footprint] [--quick] [--rounds=3] [--history=1000000]
//                      [--json] [--from=<results.json>] [--report=<file.md>] [--dir=<scratch>] [--peers=rota full,BullMQ] [--workload=<part of a name>]
//
// The costs of Postgres, of a long history and of a foreign open transaction are measured on request:
//
//   node bench/run.mjs --only=postgres,costs,history,foreign --report=docs/evidence/postgres-bench.md
//                      [--guide=docs/guides/postgres/sizing.md] [--history=10000000] [--seconds=3600] [--rate=500]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, getPriority, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measureCold } from './cold.mjs'
import { measureCron } from './cron.mjs'
import { measureFootprint } from './footprint.mjs'
import { fillGuide } from './guide.mjs'
import { measurePostgres } from './postgres.mjs'
import { measureCosts } from './postgres-costs.mjs'
import { measureForeign } from './postgres-foreign.mjs'
import { measureHistory } from './postgres-history.mjs'
import { measureQueue } from './queue.mjs'
import { measureSensors } from './sensors.mjs'
import { measureS3Listing } from './sensors-s3.mjs'
import { measureStartup } from './startup.mjs'
import { sectionsOf, toMarkdown, toText } from './tables.mjs'
import { measureTimers } from './timers.mjs'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    history: { type: 'string' },
    json: { type: 'boolean', default: false },
    report: { type: 'string' },
    guide: { type: 'string' },
    from: { type: 'string' },
    dir: { type: 'string' },
    peers: { type: 'string' },
    workload: { type: 'string' },
    seconds: { type: 'string' },
    rate: { type: 'string' },
  },
})

const measurements = {
  queue: measureQueue,
  postgres: measurePostgres,
  timers: measureTimers,
  sensors: measureSensors,
  s3: ({ quick, say }) => measureS3Listing({ keys: quick ? 10_000 : 100_000, say }),
  startup: measureStartup,
  cold: measureCold,
  cron: measureCron,
  footprint: measureFootprint,
}
const onRequest = { costs: measureCosts, history: measureHistory, foreign: measureForeign }
const known = { ...measurements, ...onRequest }
const wanted = flags.only?.split(',') ?? Object.keys(measurements)
const unknown = wanted.filter((name) => known[name] === undefined)
if (unknown.length > 0) {
  process.stderr.write(`--only takes ${Object.keys(known).join(', ')}; not ${unknown.join(', ')}\n`)
  process.exit(2)
}

const options = {
  quick: flags.quick,
  rounds: Number(flags.rounds ?? (flags.quick ? 1 : 3)),
  history: Number(flags.history ?? (flags.quick ? 100_000 : 1_000_000)),
  parent: flags.dir,
  peers: flags.peers?.split(','),
  workload: flags.workload,
  seconds: flags.seconds === undefined ? undefined : Number(flags.seconds),
  rate: flags.rate === undefined ? undefined : Number(flags.rate),
  say: (text) => process.stderr.write(`${text}\n`),
}
const results = flags.from === undefined ? await measureAll() : JSON.parse(readFileSync(flags.from, 'utf8'))

const sections = sectionsOf(results)
process.stdout.write(toText(results, sections))
if (flags.json) writeResults()
if (flags.report !== undefined) writeFileSync(flags.report, toMarkdown(results, sections))
if (flags.guide !== undefined) fillGuide(flags.guide, results)

async function measureAll() {
  const found = {
    machine: machine(),
    options: { quick: options.quick, rounds: options.rounds },
    loadBefore: loadavg(),
  }
  for (const name of wanted) found[name] = await known[name](options)
  return { ...found, loadAfter: loadavg() }
}

function machine() {
  return {
    date: new Date().toISOString().slice(0, 16),
    node: process.version,
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    priority: getPriority(),
  }
}

function writeResults() {
  const directory = fileURLToPath(new URL('./results', import.meta.url))
  mkdirSync(directory, { recursive: true })
  const file = `${directory}/${results.machine.date.replaceAll(':', '')}.json`
  writeFileSync(file, `${JSON.stringify(results, undefined, 1)}\n`)
  process.stderr.write(`${file}\n`)
}
