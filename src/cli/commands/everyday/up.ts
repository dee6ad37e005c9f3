import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { readDowntime } from '../../../app/explain/downtime.js'
import type { RotaError } from '../../../kernel/definition/errors.js'
import type { Roles } from '../../../engine/role.js'
import { programOf } from '../../../app/process/program.js'
import type { App } from '../../../app/rota.js'
import { systemClock } from '../../../time/clock.js'
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
import type { FeatureNotices } from '../../../features/feature-notices.js'
import type { Opened, UpPart } from '../../../features/up-extension.js'
import type { UpFeatures } from '../../host/up-features.js'
import type { Notice } from '../../framework/print/notice.js'
import { printEvents } from '../../views/notice.js'
import { roleOption, rolesOf, rolesText } from '../../options/role-option.js'
import { switchesOf } from '../../framework/switches-of.js'
import { Shutdown } from '../../process/shutdown.js'
import { jsonPrinter, reportLostOutput, textPrinter, type EventPrinter } from '../../views/event-printer.js'
import { TimeText } from '../../framework/print/time-text.js'
import { durationOf, hereOf } from '../../framework/times-of.js'
import { printSummary } from '../../views/up-summary.js'
import { untilReachable } from '../../process/until-reachable.js'
import { storeOf } from '../../host/named-store.js'

/** `rota up`: starts the engine and prints what happens. */
export const up = ({ extensions, notices }: UpFeatures): Command<App> => ({
  name: 'up',
  about:
    'Starts the engine: it writes the definitions of the config to the store, plans and performs due runs, serves the HTTP API on this machine, and prints what happens. SIGTERM or Ctrl-C stops it: running attempts may finish within the grace period, the other runs are released. A second signal stops it immediately. `rota reload` or SIGHUP (without a terminal) makes it read its config again without stopping anything. After `rota workers drain` it finishes its runs, however long that takes, and exits. The variables PIPELINE_ENABLED, SCHEDULER_ENABLED and WORKER_ENABLED can switch off parts of it.',
  options: [
    configOption,
    storeOption,
    ...extensions.flatMap(({ options }) => options),
    roleOption,
    {
      name: 'concurrency',
      value: 'n',
      help: 'concurrent runs; default: the config’s, else 10',
      whole: [1, 100_000],
    },
    {
      name: 'wait',
      value: 'duration',
      help: 'how long to wait at the start for a store that cannot be reached or that another process holds; default: no limit',
    },
    {
      name: 'grace',
      value: 'duration',
      help: 'how long running attempts may take to finish at a stop; default: 30s',
    },
    { name: 'quiet', short: 'q', help: 'print only problems' },
    { name: 'accept-clock', help: 'accept a clock that is more than a year ahead of the store' },
    { name: 'accept-store', help: 'accept a store that went back in time' },
    zoneOption,
    { ...jsonOption, help: 'print JSON lines instead of text' },
  ],
  examples: {
    'rota up': 'with the config of this directory',
    'rota up --config jobs/rota.config.yaml --grace 2m': 'another config, with a longer grace period',
    'rota up --role worker --concurrency 50': 'only perform runs, up to 50 concurrently',
    'rota up --role api': 'only serve the HTTP API',
    ...Object.assign({}, ...extensions.map(({ examples }) => examples)),
    'SCHEDULER_ENABLED=off rota up': 'plan nothing here',
  },
  run: async (context) => {
    const roles = rolesOf(context, switchesOf(context))
    if (typeof roles === 'string') {
      context.out.note(roles)
      return exitCodes.ok
    }
    const grace = context.args.text('grace') ?? '30s'
    durationOf(context, 'grace', grace)
    const waitMs = context.args.flag('wait') ? durationOf(context, 'wait', '0s') : Infinity
    const parts = extensions.flatMap(({ read }) => read(context) ?? [])
    const { app, config } = await appOf(context, parts)
    return await runUntilTheEnd(context, { app, config, roles, grace, waitMs, parts, notices })
  },
})

async function appOf(
  context: Context<App>,
  parts: readonly UpPart<App>[],
): Promise<{ app: App; config: string | undefined }> {
  const { args, directory } = context
  const store = storeOf(context)
  const concurrency = args.whole('concurrency')
  const config = configOf(context)
  const define = (app: App): void => parts.forEach((part) => part.define?.(app))
  if (config !== undefined) {
    const { loadApp } = await import('../../../app/definitions/load-app.js')
    return { app: await loadApp(config, { store, concurrency, directory, define }), config }
  }
  const isDefined = parts.some(({ define }) => define !== undefined)
  if (store === undefined && !isDefined && !existsSync(resolve(directory, defaultStoreFile))) {
    throw noConfig(context, ', and no store; `rota init` writes a config')
  }
  const { createApp } = await import('../../../app/rota.js')
  // A source without definitions: triggers that were added at run time must not end.
  const options = { store, concurrency, directory }
  const app = createApp(options, 'code:rota-up', { program: programOfParts(parts) })
  define(app)
  return { app, config: undefined }
}

/** Two processes of `rota up` with different files, such as plans, are two programs. */
function programOfParts(parts: readonly UpPart<App>[]): string | undefined {
  const words = parts.flatMap(({ program }) =>
    program === undefined ? [] : program.files.map((file) => `${program.option} ${programOf(file)}`),
  )
  return words.length === 0 ? undefined : `rota up ${words.join(' ')}`
}

/** The default file of the store. */
const defaultStoreFile = 'data/rota.db'

async function runUntilTheEnd(
  context: Context<App>,
  started: {
    readonly app: App
    readonly config: string | undefined
    readonly roles: Roles
    readonly grace: string
    readonly waitMs: number
    readonly parts: readonly UpPart<App>[]
    readonly notices: readonly FeatureNotices[]
  },
): Promise<number> {
  const { app, config, roles, grace, waitMs, parts, notices } = started
  const { args } = context
  const { zone } = hereOf(context)
  const times = (): TimeText => new TimeText({ zone, now: systemClock.now() })
  const printer = args.flag('json') ? await jsonPrinter(context) : textPrinter(context, times)
  reportLostOutput(context, printer)
  const early: Notice[] = []
  let tell = (notice: Notice): void => void early.push(notice)
  printEvents(app, { times, notices }, (notice) => tell(notice))
  const shutdown = new Shutdown({ app, printer, grace, onHangUp: onHangUp(app, printer) })
  try {
    // First: if the address is taken, nothing is written and the summary is not printed.
    const opened: Opened[] = []
    for (const { open } of parts) opened.push(...[await open?.(app)].filter(isOpened))
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
    await printSummary(app, printer, { config, roles: names, opened, report, downtime, times: times() })
    // Events during the start are printed after the summary, not in the middle of it.
    tell = printer.tell
    early.forEach(tell)
  } catch (error) {
    shutdown.abandon()
    await app.stop({ grace: 0 }).catch(() => undefined)
    throw error
  }
  return await shutdown.ended
}

/** SIGHUP reloads; on a terminal it means that the terminal was closed, and ends the process like SIGTERM. */
function onHangUp(app: App, printer: EventPrinter): (() => void) | undefined {
  if (process.stdin.isTTY || process.stdout.isTTY) return undefined
  const reload = async (): Promise<void> => {
    // An error is also an event, which is printed.
    const asked = await app.workers.reload({ isHere: true, reason: 'SIGHUP' }).catch(() => undefined)
    if (asked?.length === 0) printer.say('SIGHUP: there is no config to read again', 'not-reloaded')
  }
  return () => void reload()
}

function isOpened(opened: Opened | undefined): opened is Opened {
  return opened !== undefined
}
