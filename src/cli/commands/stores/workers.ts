import type { Drained } from '../../../app/control/workers.js'
import type { Rota } from '../../../app/rota.js'
import { systemClock } from '../../../time/clock.js'
import { chosenWord, type OptionOwners, refuseStray } from '../../framework/actions.js'
import { type Command, type Context, exitCodes, storeOptions } from '../../framework/command.js'
import { lookAgain, untilSignal } from '../../views/follow.js'
import { count } from '../../views/in-words.js'
import { durationOf } from '../../framework/times-of.js'
import { usageError } from '../../framework/usage-error.js'
import { withApp } from '../../host/with-app.js'

const actions = ['list', 'drain', 'undrain'] as const

/** `rota workers`: the processes that share a store. */
export const workers: Command = {
  name: 'workers',
  about:
    'list shows every process of the store: its host, release and roles, how many runs it performs of how many it can, and its last heartbeat. One that misses a heartbeat is late; one whose lease is over is gone, and its runs are taken over. drain lets a process, or all of a host, take nothing more: what it performs goes on to its end, however long that takes, and then `rota up` ends by itself with exit code 0. It claims nothing from the moment of the command on, and says in its log that it drains within a third of its lease. undrain takes that back while it has not ended.',
  arguments: [
    { name: 'action', help: `${actions.join(', ')}; default list`, isOptional: true, choices: actions },
    { name: 'target', help: 'for drain and undrain: a host, host:pid, or an id', isOptional: true },
  ],
  options: [
    {
      name: 'wait',
      value: 'duration',
      help: 'for drain: wait this long for what they perform; exit code 1 where some is left',
    },
    ...storeOptions,
  ],
  examples: [
    { line: 'rota workers', meaning: 'who is there, and how busy' },
    { line: 'rota workers drain web-1 --wait 15m', meaning: 'empty a host before it is updated' },
    { line: 'rota workers drain web-1:4242', meaning: 'one process of it' },
    { line: 'rota workers undrain web-1', meaning: 'let it work again' },
    { line: 'rota workers --json', meaning: 'for a program' },
  ],
  run: async (context) => {
    const asked = askedOf(context)
    return await withApp(context, (app) => act(context, app, asked))
  },
}

type Action = (typeof actions)[number]

interface Asked {
  readonly action: Action
  readonly target: string
  readonly waitMs: number | undefined
}

const owners: OptionOwners<Action> = { wait: ['drain'] }

function askedOf(context: Context): Asked {
  const { args } = context
  const action = chosenWord(args.optionalWord(0) ?? 'list', { command: 'workers', known: actions })
  refuseStray(context, action, { command: 'workers', owners })
  const target = args.optionalWord(1)
  if ((target === undefined) !== (action === 'list')) {
    const message = target === undefined ? 'it is missing' : 'list takes none'
    const fault = { path: '<target>', message, allowed: 'a host, host:pid, or an id' }
    throw usageError([fault], '`rota workers --help` shows examples')
  }
  const waitMs = args.flag('wait') ? durationOf(context, 'wait', '0s') : undefined
  return { action, target: target ?? '', waitMs }
}

async function act(context: Context, app: Rota, asked: Asked): Promise<number> {
  const { args, out } = context
  const { printWorkers, workerView } = await import('../../views/worker-views.js')
  if (asked.action === 'list') {
    const known = await app.workers.list()
    if (args.flag('json')) out.json(known.map(workerView))
    else printWorkers(context, known, app.now())
    return exitCodes.ok
  }
  const isDrain = asked.action === 'drain'
  const drained = isDrain ? await app.workers.drain(asked.target) : await app.workers.undrain(asked.target)
  const areLeft = asked.waitMs === undefined ? undefined : await leftAfter(app, drained, asked.waitMs)
  if (args.flag('json')) {
    out.json(drained.map(({ worker, outcome }) => ({ worker: worker.id, outcome, running: worker.running })))
  } else for (const one of drained) out.say(isDrain ? drainText(one) : undrainText(one))
  if (areLeft !== undefined && areLeft > 0) {
    out.note(`${count(areLeft, 'run')} still performed after ${args.text('wait')}; they go on`)
    return exitCodes.failed
  }
  return drained.some(({ outcome }) => wasDone.has(outcome)) ? exitCodes.ok : exitCodes.failed
}

const wasDone: ReadonlySet<Drained['outcome']> = new Set(['changed', 'already'])

/** How many runs they still perform when nothing is left, or the time is over, or a signal came. */
async function leftAfter(app: Rota, drained: readonly Drained[], waitMs: number): Promise<number> {
  const ids = new Set(drained.filter(({ outcome }) => wasDone.has(outcome)).map(({ worker }) => worker.id))
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
      return `${name} is gone; what it held is taken over`
    case 'unable':
      return `${name} runs Rota ${worker.version}, which cannot drain; end it with SIGTERM`
  }
}

function undrainText({ worker, outcome }: Drained): string {
  const name = `${worker.host}:${worker.pid}`
  switch (outcome) {
    case 'changed':
      return `${name} takes work again`
    case 'already':
      return `${name} was not draining`
    case 'gone':
      return `${name} is gone; start it again with \`rota up\``
    case 'unable':
      return `${name} runs Rota ${worker.version}, which cannot drain`
  }
}
