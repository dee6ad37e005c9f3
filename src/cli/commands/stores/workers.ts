import type { Drained, WorkerInfo } from '../../../app/control/workers.js'
import type { App } from '../../../app/rota.js'
import { systemClock } from '../../../time/clock.js'
import { type Command, type Context, exitCodes, storeOptions } from '../../framework/command.js'
import { pick } from '../../framework/print/json.js'
import { printList } from '../../framework/print/list.js'
import type { Columns } from '../../framework/print/table.js'
import { roughly } from '../../framework/print/time-text.js'
import { count } from '../../framework/print/words.js'
import { durationOf } from '../../framework/times-of.js'
import { untilSignal } from '../../framework/until-signal.js'
import { lookAgain } from '../../views/follow.js'

const target = { name: 'target', help: 'a host, host:pid, or an id' }

const list: Command<App> = {
  name: 'list',
  summary: 'list the processes of a store',
  about:
    'Lists every process of the store: its host, release and roles, how many runs it performs of how many it can, and its last heartbeat. A process that misses a heartbeat is late. One whose lease has expired is gone, and its runs are taken over.',
  options: storeOptions,
  examples: [{ line: 'rota workers list', meaning: 'who is there, and how busy' }],
  run: (context) =>
    context.withApp(async (app) => {
      printList(context.out, await app.workers.list(), {
        empty: 'no process works on this store; `rota up` starts one',
        columns: workerColumns(app.now()),
        json: workerView,
      })
      return exitCodes.ok
    }),
}

const drain: Command<App> = {
  name: 'drain',
  summary: 'let a process finish its runs and end',
  about:
    'Lets a process, or all processes of a host, claim nothing more. Their running runs continue to their end, however long that takes; then `rota up` ends by itself with exit code 0. A process claims nothing from the moment of this command on, and logs that it drains within a third of its lease.',
  arguments: [target],
  options: [
    {
      name: 'wait',
      value: 'duration',
      help: 'wait this long for the running runs; exit code 1 if some are left',
    },
    ...storeOptions,
  ],
  examples: [
    { line: 'rota workers drain web-1 --wait 15m', meaning: 'empty a host before an update' },
    { line: 'rota workers drain web-1:4242', meaning: 'one process' },
  ],
  run: async (context) => {
    const waitMs = context.args.flag('wait') ? durationOf(context, 'wait', '0s') : undefined
    return await context.withApp(async (app) => {
      const drained = await app.workers.drain(context.args.word(0))
      const left = waitMs === undefined ? 0 : await leftAfter(app, drained, waitMs)
      const code = print(context, drained, drainText)
      if (left === 0) return code
      const wait = context.args.text('wait')
      context.out.note(`${count(left, 'run')} still running after ${wait}; they continue`)
      return exitCodes.failed
    })
  },
}

const undrain: Command<App> = {
  name: 'undrain',
  summary: 'let a draining process work again',
  about: 'Ends the draining of a process, or of all processes of a host, that have not ended yet.',
  arguments: [target],
  options: storeOptions,
  examples: [{ line: 'rota workers undrain web-1', meaning: 'let it work again' }],
  run: (context) =>
    context.withApp(async (app) =>
      print(context, await app.workers.undrain(context.args.word(0)), undrainText),
    ),
}

/** `rota workers`: the processes that share a store. */
export const workers: Command<App> = {
  ...list,
  name: 'workers',
  about:
    'Lists the processes that share a store, or drains them: a draining process finishes its runs, claims no new ones, and ends.',
  examples: [
    { line: 'rota workers', meaning: 'who is there, and how busy' },
    { line: 'rota workers --json', meaning: 'for a program' },
  ],
  subcommands: [list, drain, undrain],
}

function workerView({ isDraining, ...worker }: WorkerInfo) {
  const fields = ['id', 'host', 'pid', 'version', 'roles', 'running', 'slots'] as const
  const times = ['startedAt', 'lastBeatAt', 'leaseUntil'] as const
  return { ...pick(worker, [...fields, ...times]), draining: isDraining, standing: worker.standing }
}

/** As they stand at an instant of the store's clock. */
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
      text: ({ lastBeatAt }) => (lastBeatAt === undefined ? '–' : `${since(lastBeatAt)} ago`),
      isRight: true,
    },
    {
      title: 'STATE',
      text: ({ standing, isDraining }) => (standing === 'live' && isDraining ? 'draining' : standing),
      colors: { live: 'green', draining: 'yellow', late: 'yellow', gone: 'red' },
    },
  ]
}

/** How many runs of how many; a process that only plans performs none. */
function loadText({ running, slots }: WorkerInfo): string {
  return slots === 0 && running === 0 ? '–' : `${running}/${slots ?? '?'}`
}

function print({ out }: Context<App>, drained: readonly Drained[], text: (one: Drained) => string): number {
  const data = drained.map(({ worker, outcome }) => {
    return { worker: worker.id, outcome, running: worker.running }
  })
  out.show(data, () => {
    for (const one of drained) out.say(text(one))
  })
  return drained.some(wasDone) ? exitCodes.ok : exitCodes.failed
}

function wasDone({ outcome }: Drained): boolean {
  return outcome === 'changed' || outcome === 'already'
}

/** How many runs they still perform when nothing is left, or the time is over, or a signal came. */
async function leftAfter(app: App, drained: readonly Drained[], waitMs: number): Promise<number> {
  const ids = new Set(drained.filter(wasDone).map(({ worker }) => worker.id))
  let left = 0
  await untilSignal(async (signal) => {
    const over = AbortSignal.any([signal, timeoutOf(waitMs)])
    await lookAgain(app, over, async () => {
      const meant = (await app.workers.list()).filter(
        ({ id, standing }) => ids.has(id) && standing !== 'gone',
      )
      left = meant.reduce((sum, { running }) => sum + running, 0)
      return left > 0 ? 'again' : 'over'
    })
    return exitCodes.ok
  })
  return left
}

function timeoutOf(ms: number): AbortSignal {
  const controller = new AbortController()
  systemClock.timer(ms, () => controller.abort(), { isIdle: true })
  return controller.signal
}

function drainText({ worker, outcome }: Drained): string {
  const name = `${worker.host}:${worker.pid}`
  const runs = worker.running === 0 ? 'it performs nothing' : `${count(worker.running, 'run')} to finish`
  switch (outcome) {
    case 'changed':
      return `${name} drains; ${runs}`
    case 'already':
      return `${name} drains already; ${runs}`
    case 'gone':
      return `${name} is gone; its runs are taken over`
    case 'unable':
      return `${name} runs Rota ${worker.version}, which cannot drain; end it with SIGTERM`
  }
}

function undrainText({ worker, outcome }: Drained): string {
  const name = `${worker.host}:${worker.pid}`
  switch (outcome) {
    case 'changed':
      return `${name} claims runs again`
    case 'already':
      return `${name} was not draining`
    case 'gone':
      return `${name} is gone; start it again with \`rota up\``
    case 'unable':
      return `${name} runs Rota ${worker.version}, which cannot drain`
  }
}
