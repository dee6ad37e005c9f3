import type { Drained, WorkerInfo } from '../../../app/control/workers.js'
import type { App } from '../../../app/rota.js'
import { systemClock } from '../../../time/clock.js'
import {
  type Command,
  type Context,
  exitCodes,
  onApp,
  changeOptions,
  storeOptions,
} from '../../framework/command.js'
import { pick } from '../../../wire/to-json.js'
import { type Columns, printList } from '../../framework/print/table.js'
import { roughly } from '../../framework/print/time-text.js'
import { count } from '../../framework/print/words.js'
import { durationOf } from '../../framework/times-of.js'
import { untilSignal } from '../../framework/until-signal.js'
import { lookAgain } from '../../views/look-again.js'

const target = { name: 'target', help: 'a host, host:pid, or an id' }

const list: Command<App> = {
  name: 'list',
  summary: 'list the processes of a store',
  about:
    'Lists every process of the store: its host, release and roles, how many runs it performs of how many it can, and its last heartbeat. A process that misses a heartbeat is late. One whose lease has expired is gone, and its runs are taken over.',
  options: storeOptions,
  examples: { 'rota workers list': 'who is there, and how busy' },
  run: onApp(async (app, { out }) => {
    printList(out, await app.workers.list(), {
      empty: 'no process works on this store; `rota up` starts one',
      columns: workerColumns(app.now()),
      json: workerView,
    })
  }),
}

const drain: Command<App> = {
  name: 'drain',
  summary: 'let a process finish its runs and end',
  about:
    'Stops a process, or all processes of a host, from claiming runs. Their running runs continue to their end, however long that takes; then `rota up` exits with code 0. After this command a process claims nothing more; it logs that it drains within a third of its lease.',
  arguments: [target],
  options: [
    {
      name: 'wait',
      value: 'duration',
      help: 'wait this long for the running runs; exit code 1 if some are left',
    },
    ...changeOptions,
  ],
  examples: {
    'rota workers drain web-1 --wait 15m': 'empty a host before an update',
    'rota workers drain web-1:4242': 'one process',
  },
  run: onApp(async (app, context) => {
    const { args, out } = context
    const waitMs = durationOf(context, 'wait', '0s')
    const dryRun = args.flag('dry-run')
    const drained = await app.workers.drain(args.word(0), { dryRun })
    const left = args.flag('wait') && !dryRun ? await leftAfter(app, drained, waitMs) : 0
    const code = print(context, drained, drainTexts)
    if (left === 0) return code
    out.note(`${count(left, 'run')} still running after ${args.text('wait')}; they continue`)
    return exitCodes.failed
  }),
}

const undrain: Command<App> = {
  name: 'undrain',
  summary: 'let a draining process work again',
  about: 'Ends the draining of a process, or of all processes of a host, that have not ended yet.',
  arguments: [target],
  options: changeOptions,
  examples: { 'rota workers undrain web-1': 'let it work again' },
  run: onApp(async (app, context) => {
    const dryRun = context.args.flag('dry-run')
    return print(context, await app.workers.undrain(context.args.word(0), { dryRun }), undrainTexts)
  }),
}

/** `rota workers`: the processes that share a store. */
export const workers: Command<App> = {
  ...list,
  name: 'workers',
  about:
    'Lists the processes that share a store, or drains them: a draining process finishes its runs, claims no new ones, and ends.',
  examples: {
    'rota workers': 'who is there, and how busy',
    'rota workers --json': 'for a program',
  },
  subcommands: [list, drain, undrain],
}

function workerView({ isDraining, ...worker }: WorkerInfo) {
  const fields = ['id', 'host', 'pid', 'version', 'roles', 'running', 'slots'] as const
  const times = ['startedAt', 'lastBeatAt', 'leaseUntil'] as const
  return { ...pick(worker, [...fields, ...times]), draining: isDraining, standing: worker.standing }
}

/** The columns at an instant of the store's clock. */
function workerColumns(now: number): Columns<WorkerInfo> {
  const since = (at: number): string => roughly(Math.max(0, now - at))
  return [
    { key: 'host', shortest: 8 },
    'pid',
    { key: 'version', shortest: 7 },
    { title: 'ROLES', text: ({ roles }) => roles.join(','), shortest: 6 },
    { title: 'LOAD', text: loadText, isRight: true },
    { title: 'UP', text: ({ startedAt }) => since(startedAt), isRight: true },
    {
      title: 'HEARTBEAT',
      text: ({ lastBeatAt: at }) => (at === undefined ? '–' : `${since(at)} ago`),
      isRight: true,
    },
    {
      title: 'STATE',
      text: ({ standing, isDraining }) => (standing === 'live' && isDraining ? 'draining' : standing),
      colors: { live: 'green', draining: 'yellow', late: 'yellow', gone: 'red' },
    },
  ]
}

/** Running runs and slots; a process that only plans has none. */
function loadText({ running, slots }: WorkerInfo): string {
  return slots === 0 && running === 0 ? '–' : `${running}/${slots ?? '?'}`
}

function print({ out }: Context<App>, drained: readonly Drained[], texts: Texts): number {
  const data = drained.map(({ worker: { id, running }, outcome }) => ({ worker: id, outcome, running }))
  out.show(data, () => {
    for (const { worker, outcome } of drained)
      out.say(`${worker.host}:${worker.pid} ${texts[outcome](worker)}`)
  })
  return drained.some(wasDone) ? exitCodes.ok : exitCodes.failed
}

function wasDone({ outcome }: Drained): boolean {
  return outcome === 'changed' || outcome === 'already'
}

/** Waits until no run is left, the time is over, or a signal comes; returns how many runs are left. */
async function leftAfter(app: App, drained: readonly Drained[], waitMs: number): Promise<number> {
  const ids = new Set(drained.filter(wasDone).map(({ worker }) => worker.id))
  let left = 0
  await untilSignal(async (signal) => {
    const over = new AbortController()
    systemClock.timer(waitMs, () => over.abort(), { isIdle: true })
    await lookAgain(app, AbortSignal.any([signal, over.signal]), async () => {
      const workers = await app.workers.list()
      const meant = workers.filter(({ id, standing }) => ids.has(id) && standing !== 'gone')
      left = meant.reduce((sum, { running }) => sum + running, 0)
      return left > 0 ? 'again' : 'over'
    })
  })
  return left
}

/** The texts for each result. */
type Texts = Readonly<Record<Drained['outcome'], (worker: WorkerInfo) => string>>

const drainTexts: Texts = {
  changed: (worker) => `drains; ${leftText(worker)}`,
  already: (worker) => `drains already; ${leftText(worker)}`,
  gone: () => 'is gone; its runs are taken over',
  unable: ({ version }) => `runs Rota ${version}, which cannot drain; end it with SIGTERM`,
}

const undrainTexts: Texts = {
  changed: () => 'claims runs again',
  already: () => 'was not draining',
  gone: () => 'is gone; start it again with `rota up`',
  unable: ({ version }) => `runs Rota ${version}, which cannot drain`,
}

function leftText({ running }: WorkerInfo): string {
  return running === 0 ? 'it performs nothing' : `${count(running, 'run')} to finish`
}
