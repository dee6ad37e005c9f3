import type { App } from '../../../app/rota.js'
import type { SimulatedTrigger, Peak } from '../../../app/simulate/tally.js'
import type { SimulationResult } from '../../../app/simulate/simulate.js'
import { formatDuration } from '../../../time/duration.js'
import {
  type Command,
  type Context,
  configOption,
  type Ended,
  exitCodes,
  jsonOption,
  storeOption,
  zoneOption,
} from '../../framework/command.js'
import { type Columns, printTable } from '../../framework/print/table.js'
import { count } from '../../framework/print/words.js'
import { durationOf } from '../../framework/times-of.js'

/** `rota simulate`: simulates the next days. */
export const simulate: Command<App> = {
  name: 'simulate',
  about:
    'Simulates the next days in memory: the real engine on a virtual clock. Handlers are not called. Each run takes as long as one of the newest 200 runs of its trigger took, and fails as often. Nothing is written, and nothing outside is called. Sensors are left out, pauses are ignored. With a config it uses the definitions of the config, otherwise those of the store.',
  options: [
    { name: 'days', value: 'n', whole: [1, 732], help: 'how many days pass; default: 7' },
    {
      name: 'crash',
      value: 'duration',
      key: 'crashEvery',
      help: 'a process crashes this often on average; default: never',
    },
    { name: 'processes', value: 'n', whole: [1, 100], help: 'how many processes work; default: 1' },
    {
      name: 'concurrency',
      value: 'n',
      whole: [1, 10_000],
      help: 'how many runs each performs concurrently; default: that of the config, else 10',
    },
    { name: 'unknown', value: 'duration', help: 'how long a run takes without history; default: 1s' },
    {
      name: 'seed',
      value: 'n',
      whole: [1, 0xffff_ffff],
      help: 'the same seed gives the same result; default: 1',
    },
    { name: 'all', help: 'list all triggers instead of the 20 latest' },
    configOption,
    zoneOption,
    storeOption,
    jsonOption,
  ],
  examples: {
    'rota simulate': 'the next seven days',
    'rota simulate --days 30 --config next.config.yaml': 'a month with definitions that are not deployed yet',
    'rota simulate --processes 2 --crash 6h': 'two processes, and a crash every six hours',
  },
  run: async (context) => {
    const { args } = context
    const options = {
      duration: `${args.whole('days') ?? 7}d`,
      crashEvery: spanOf(context, 'crash'),
      processes: args.whole('processes'),
      concurrency: args.whole('concurrency'),
      unknown: spanOf(context, 'unknown'),
      seed: args.whole('seed'),
    }
    const hasConfig = (await context.configPath()) !== undefined
    const use = (app: App): Ended => simulateAndTell(app, context, options)
    return hasConfig ? await context.withConfigApp(use) : await context.withApp(use)
  },
}

async function simulateAndTell(
  app: App,
  context: Context<App>,
  options: Parameters<App['simulate']>[0],
): Promise<number> {
  const { out, args } = context
  const result = await app.simulate({
    ...options,
    onProgress: (share) => out.progress(`simulated ${Math.round(share * 100)} %`),
  })
  out.show(result, () => tell(out, result, args.flag('all')))
  return exitCodes.ok
}

function tell(out: Context['out'], result: SimulationResult, all: boolean): void {
  const { runs, failed, crashes, late, maxRunning, maxWaiting, busiestMinute, processes, concurrency } =
    result
  const times = out.times()
  const at = (peak: Peak): string => (peak.at === undefined ? '' : ` at ${times.exact(peak.at)}`)
  out.line(`from ${times.exact(result.fromAt)} to ${times.exact(result.untilAt)}`)
  out.line(
    `${count(runs, 'run')}, ${failed} failed${crashes === 0 ? '' : `, processes crashed ${crashes} times`}`,
  )
  out.line(
    `late: half of the runs ${shown(late.p50Ms)} or less, 99 % ${shown(late.p99Ms)} or less, at most ${shown(late.maxMs)}`,
  )
  out.line(
    `running at once: at most ${maxRunning.count} of ${processes * concurrency}${at(maxRunning)}; slots used: ${percent(result.used)}`,
  )
  out.line(`waiting at once: at most ${maxWaiting.count}${at(maxWaiting)}`)
  out.line(`busiest minute: ${count(busiestMinute.count, 'start')}${at(busiestMinute)}`)
  const latest = result.triggers.toSorted((a, b) => b.late.maxMs - a.late.maxMs || b.runs - a.runs)
  const listed = all ? latest : latest.slice(0, 20)
  if (listed.length > 0) {
    out.line()
    printTable(out, listed, columns)
  }
  if (listed.length < latest.length)
    out.note(`the ${listed.length} latest of ${latest.length} triggers; --all lists them all`)
  const unknown = result.triggers.filter(({ knownRuns }) => knownRuns === 0).length
  if (unknown > 0)
    out.note(`${count(unknown, 'trigger')} without history: each run took the duration of --unknown`)
  for (const { trigger, pausedAt } of result.triggers)
    if (pausedAt !== undefined)
      out.note(`${trigger} would be paused after failures in a row, at ${times.exact(pausedAt)}`)
  for (const { trigger, why } of result.leftOut) out.note(`left out: ${trigger}: ${why}`)
}

const columns: Columns<SimulatedTrigger> = [
  { key: 'trigger', shortest: 12 },
  'runs',
  { key: 'failed', colors: { 0: 'dim', '*': 'red' } },
  { title: 'LATE 99 %', text: ({ late }) => shown(late.p99Ms) },
  { title: 'LATEST', text: ({ late }) => shown(late.maxMs) },
  {
    title: 'NOT RUN',
    text: ({ notRun }) =>
      Object.entries(notRun)
        .map(([reason, number]) => `${reason} ${number}`)
        .join(', '),
    shortest: 8,
  },
]

function shown(ms: number): string {
  return formatDuration(Math.round(ms))
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
}

function spanOf(context: Context<App>, option: string): number | undefined {
  return context.args.text(option) === undefined ? undefined : durationOf(context, option, '')
}
