// Cron: how many expressions are parsed and how many next occurrences are found per second, compared with other
// libraries.
//
//   node bench/cron.mjs [--runs=3] [--ms=400]
//
// Every library runs in its own process, the runs of all libraries interleaved; figures are medians of runs, each
// the harmonic mean over the mix. Only ratios from one run mean anything. ROTA_DIST names another build of Rota.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const MIX = [
  ['*/5 * * * *', 'UTC'],
  ['0 9 * * *', 'America/New_York'],
  ['30 2 * * *', 'Europe/Berlin'],
  ['0 0 1 * *', 'Asia/Bangkok'],
  ['*/10 * * * * *', 'UTC'],
  ['0 0 29 2 *', 'UTC'],
]
/** The day before clocks spring forward in Berlin. */
const START = Date.UTC(2026, 2, 28, 12)
const STEPS_BEFORE_RESTART = 40

/** Each library: make(expression, zone) returns an object, next(object, ms, zone) the next occurrence in ms. */
const LIBRARIES = {
  rota: async () => {
    const { cronSchedule } = await import(pathToFileURL(resolve(rotaDist(), 'time/cron/schedule.js')).href)
    return {
      make: (expression, timezone) => cronSchedule(expression, { timezone }),
      next: (schedule, at) => schedule.next(at),
    }
  },
  croner: async () => {
    const { Cron } = await import('croner')
    return {
      make: (expression, timezone) => new Cron(expression, { timezone, paused: true }),
      next: (cron, at) => cron.nextRun(new Date(at)).getTime(),
    }
  },
  'cron-parser': async () => {
    const { CronExpressionParser } = await import('cron-parser')
    return {
      make: (expression, tz) => CronExpressionParser.parse(expression, { tz, currentDate: new Date(START) }),
      next: (cron, at) => {
        cron.reset(new Date(at))
        return cron.next().getTime()
      },
    }
  },
  'cron-schedule': async () => {
    const { parseCronExpression } = await import('cron-schedule')
    return {
      note: 'knows no zones',
      make: (expression) => parseCronExpression(expression),
      next: (cron, at) => cron.getNextDate(new Date(at)).getTime(),
    }
  },
  cron: async () => {
    const { CronTime } = await import('cron')
    return {
      make: (expression, zone) => new CronTime(expression, zone),
      next: (cron, at, zone) => cron.getNextDateFrom(new Date(at), zone).toMillis(),
    }
  },
  cronosjs: async () => {
    const { CronosExpression } = await import('cronosjs')
    return {
      make: (expression, timezone) => CronosExpression.parse(expression, { timezone }),
      next: (cron, at) => cron.nextDate(new Date(at)).getTime(),
    }
  },
}

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    ms: { type: 'string', default: '400' },
    child: { type: 'string' },
  },
  strict: false,
})

const isMain = process.argv[1] === fileURLToPath(import.meta.url)
if (isMain && options.child === undefined) print(compareAll())
else if (isMain) process.stdout.write(`${JSON.stringify(await measure(options.child))}\n`)

/** Measures all libraries; called by run.mjs. */
export function measureCron({ rounds, quick, say }) {
  Object.assign(options, { runs: String(rounds), ms: quick ? '100' : '400' })
  const rows = compareAll()
  say('cron')
  return rows
}

function compareAll() {
  const runs = Object.fromEntries(Object.keys(LIBRARIES).map((name) => [name, []]))
  for (let run = 0; run < Number(options.runs); run += 1) {
    for (const name of Object.keys(LIBRARIES)) runs[name].push(measureInChild(name))
  }
  return Object.entries(runs).map(([name, results]) => ({
    name,
    note: results[0].note,
    parse: median(results.map((result) => result.parse)),
    next: median(results.map((result) => result.next)),
  }))
}

function measureInChild(name) {
  const self = fileURLToPath(import.meta.url)
  const child = spawnSync(process.execPath, [self, `--child=${name}`, `--ms=${options.ms}`], {
    encoding: 'utf8',
    timeout: 120_000,
  })
  if (child.status === 0) return JSON.parse(child.stdout)
  return { note: `failed: ${child.stderr.trim().split('\n').at(-1)}`, parse: Number.NaN, next: Number.NaN }
}

async function measure(name) {
  const { make, next, note = '' } = await LIBRARIES[name]()
  const parse = []
  const steps = []
  const notes = note === '' ? [] : [note]
  for (const [expression, zone] of MIX) {
    parse.push(rateOf(() => make(expression, zone)))
    // A library that gives up on a row is measured on the others.
    try {
      steps.push(rateOf(stepper(make(expression, zone), zone, next)))
    } catch (error) {
      notes.push(`${expression} failed: ${error.message.split('\n')[0].slice(0, 60)}`)
    }
  }
  return { note: notes.join('; '), parse: harmonicMean(parse), next: harmonicMean(steps) }
}

function stepper(made, zone, next) {
  let at = START
  let count = 0
  return () => {
    at = next(made, at, zone)
    count += 1
    if (count % STEPS_BEFORE_RESTART === 0) at = START
  }
}

function rateOf(action) {
  for (let warmUp = 0; warmUp < 200; warmUp += 1) action()
  const start = performance.now()
  let count = 0
  do {
    for (let index = 0; index < 50; index += 1) action()
    count += 50
  } while (performance.now() - start < Number(options.ms))
  return (count * 1000) / (performance.now() - start)
}

function print(rows) {
  const rota = rows.find((row) => row.name === 'rota')
  const lines = [['library', 'parse/s', 'ratio', 'next/s', 'ratio', '']]
  for (const row of rows) {
    const ratio = (own, other) => (row === rota ? '' : `${(own / other).toFixed(own / other < 10 ? 1 : 0)} x`)
    lines.push([
      row.name,
      Math.round(row.parse).toLocaleString('en-US'),
      ratio(rota.parse, row.parse),
      Math.round(row.next).toLocaleString('en-US'),
      ratio(rota.next, row.next),
      row.note,
    ])
  }
  for (const [name, ...cells] of lines) {
    const note = cells.pop()
    process.stdout.write(`${name.padEnd(16)}${cells.map((cell) => cell.padStart(14)).join('')}  ${note}\n`)
  }
}

function rotaDist() {
  return process.env.ROTA_DIST ?? fileURLToPath(new URL('../dist', import.meta.url))
}

function harmonicMean(values) {
  return values.length / values.reduce((sum, value) => sum + 1 / value, 0)
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
