import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { readDowntime } from '../../../app/explain/downtime.js'
import type { RotaError } from '../../../kernel/definition/errors.js'
import type { Roles } from '../../../engine/role.js'
import { programOf } from '../../../app/process/program.js'
import type { Rota } from '../../../app/rota.js'
import { quotedText } from '../../../text/error-text.js'
import { systemClock } from '../../../time/clock.js'
import { usageError } from '../../framework/usage-error.js'
import {
  configOption,
  type Command,
  type Context,
  exitCodes,
  jsonOption,
  storeOption,
  zoneOption,
} from '../../framework/command.js'
import { configOf, noConfig } from '../../host/config-of.js'
import { namedFile } from '../../../formats/named-file.js'
import { type Notice, tellEvents } from '../../views/notice.js'
import { roleOption, rolesOf, rolesText } from '../../options/role-option.js'
import { switchesOf } from '../../framework/switches-of.js'
import { Shutdown } from '../../process/shutdown.js'
import { jsonPrinter, tellOfLostOutput, textPrinter } from '../../views/event-printer.js'
import { TimeText } from '../../framework/print/time-text.js'
import { durationOf, hereOf } from '../../framework/times-of.js'
import { tellSummary } from '../../views/up-summary.js'
import { untilReachable } from '../../process/until-reachable.js'
import { storeOf } from '../../host/with-app.js'
import { jobsFileOf, jobsOption } from '../../../features/command-jobs/jobs-option.js'

/** `rota up`: starts the engine and tells what happens. */
export const up: Command<Rota> = {
  name: 'up',
  about:
    'Starts the engine: it writes the definitions of the config to the store, plans what is due and performs it, and tells what happens. SIGTERM or Ctrl-C ends it in order: what runs may finish within the grace, the rest is released; a second one ends it at once. `rota workers drain` lets it finish what it has, however long that takes, and end by itself. PIPELINE_ENABLED, SCHEDULER_ENABLED and WORKER_ENABLED in the environment can hold it back.',
  options: [
    configOption,
    storeOption,
    {
      name: 'plan',
      value: 'file',
      help: 'perform the entries of this plan too',
      isList: true,
      completes: 'file',
    },
    jobsOption,
    roleOption,
    {
      name: 'concurrency',
      value: 'n',
      help: 'runs at once; default: the config’s, else 10',
      whole: { min: 1, max: 100_000 },
    },
    {
      name: 'wait',
      value: 'duration',
      help: 'how long to wait at the start for a store that cannot be reached or is held by another process; default: without end',
    },
    { name: 'grace', value: 'duration', help: 'how long runs may take to finish at the end; default: 30s' },
    {
      name: 'webhooks',
      value: '[host:]port',
      help: 'take signed deliveries at /webhooks/<sensor>; on this machine only unless a host is named',
    },
    { name: 'quiet', short: 'q', help: 'tell only what went wrong' },
    { name: 'accept-clock', help: 'believe a clock that is more than a year ahead of the store' },
    { name: 'accept-store', help: 'go on with a store that went back in time' },
    zoneOption,
    { ...jsonOption, help: 'print JSON lines instead of text' },
  ],
  examples: [
    { line: 'rota up', meaning: 'with the config of this directory' },
    { line: 'rota up --config jobs/rota.config.yaml --grace 2m', meaning: 'another one, patiently' },
    { line: 'rota up --role worker --concurrency 50', meaning: 'only perform, many at once' },
    { line: 'rota up --webhooks 8080', meaning: 'and take deliveries to webhook sensors' },
    { line: 'SCHEDULER_ENABLED=off rota up', meaning: 'plan nothing here' },
  ],
  run: async (context) => {
    const roles = rolesOf(context, switchesOf(context))
    if (typeof roles === 'string') {
      context.out.note(roles)
      return exitCodes.ok
    }
    const grace = context.args.text('grace') ?? '30s'
    durationOf(context, 'grace', grace)
    const waitMs = context.args.flag('wait') ? durationOf(context, 'wait', '0s') : Infinity
    const webhooks = webhooksOf(context)
    const { app, config } = await appOf(context)
    return await runUntilTheEnd(context, { app, config, roles, grace, waitMs, webhooks })
  },
}

interface Address {
  readonly host: string
  readonly port: number
}

/** Where deliveries are taken, where they are. */
function webhooksOf({ args }: Context<Rota>): Address | undefined {
  const text = args.text('webhooks')
  if (text === undefined) return undefined
  const [, host = '127.0.0.1', digits] = /^(?:(\[[\d:a-fA-F.%]+\]|[\w.-]+):)?(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (Number.isInteger(port) && port <= 65_535) return { host: host.replace(/^\[(.*)\]$/, '$1'), port }
  const message = `${quotedText(text)} is not an address`
  const fault = { path: '--webhooks', message, allowed: 'a port, or a host and a port such as 0.0.0.0:8080' }
  throw usageError([fault], 'see `rota up --help`')
}

async function appOf(context: Context<Rota>): Promise<{ app: Rota; config: string | undefined }> {
  const { args, directory } = context
  const store = storeOf(context)
  const concurrency = args.whole('concurrency')
  const config = configOf(context)
  const plans = args
    .list('plan')
    .map((path) => namedFile(directory, { holder: '--plan', path, code: 'PLAN_INVALID' }))
  const jobs = jobsFileOf(context)
  if (config !== undefined) {
    const { loadApp } = await import('../../../app/definitions/load-app.js')
    const app = await loadApp(config, { store, concurrency, directory })
    for (const plan of plans) app.plans.add(plan)
    if (jobs !== undefined) app.commands.useFile(jobs)
    return { app, config }
  }
  if (
    store === undefined &&
    plans.length === 0 &&
    jobs === undefined &&
    !existsSync(resolve(directory, usualStoreFile))
  ) {
    throw noConfig(context, ', and no store; `rota init` writes a config')
  }
  const { createApp } = await import('../../../app/rota.js')
  // A source that owns nothing: what was added to the store must not end because no config names it.
  // Two of them with different plans are two programs.
  const program = plans.length === 0 ? undefined : `rota up --plan ${plans.map(programOf).join(' --plan ')}`
  const app = createApp({ store, concurrency, directory }, 'code:rota-up', { program })
  for (const plan of plans) app.plans.add(plan)
  if (jobs !== undefined) app.commands.useFile(jobs)
  return { app, config: undefined }
}

/** Where the store lies unless something else is said. */
const usualStoreFile = 'data/rota.db'

async function runUntilTheEnd(
  context: Context<Rota>,
  started: {
    readonly app: Rota
    readonly config: string | undefined
    readonly roles: Roles
    readonly grace: string
    readonly waitMs: number
    readonly webhooks: Address | undefined
  },
): Promise<number> {
  const { app, config, roles, grace, waitMs, webhooks } = started
  const { args } = context
  const { zone } = hereOf(context)
  const times = (): TimeText => new TimeText({ zone, now: systemClock.now() })
  const printer = args.flag('json') ? await jsonPrinter(context) : textPrinter(context, times)
  tellOfLostOutput(context, printer)
  const early: Notice[] = []
  let tell = (notice: Notice): void => void early.push(notice)
  tellEvents(app, times, (notice) => tell(notice))
  const shutdown = new Shutdown({ app, printer, grace })
  try {
    // First of all: where the address cannot be had, nothing is written and nothing is said to be up.
    const listening = webhooks === undefined ? undefined : await app.sensors.listen(webhooks)
    const options = { roles, acceptClock: args.flag('accept-clock'), acceptStore: args.flag('accept-store') }
    const onWait = ({ message, code }: RotaError): void =>
      printer.say(`waiting for the store: ${message} [${code}]`, 'waiting', { code, message })
    const begun = await untilReachable({ waitMs, signal: shutdown.signal, onWait }, async () => {
      const downtime = await readDowntime(app)
      return { downtime, report: await app.start(options) }
    })
    if (begun === undefined) return await shutdown.ended
    const { downtime, report } = begun
    const names = rolesText(roles)
    await tellSummary(app, printer, { config, roles: names, report, downtime, times: times() })
    if (listening !== undefined) {
      const { host, port } = listening
      const shown = host.includes(':') ? `[${host}]` : host
      printer.say(`  takes deliveries at http://${shown}:${port}/webhooks/<sensor>`, 'webhooks', {
        host,
        port,
      })
    }
    // What happened meanwhile comes after the summary, which would otherwise stand between it.
    tell = printer.tell
    early.forEach(tell)
  } catch (error) {
    shutdown.abandon()
    await app.stop({ grace: 0 }).catch(() => undefined)
    throw error
  }
  return await shutdown.ended
}
