import { formatDuration } from '../../time/duration.js'
import type { Rota } from '../../app/rota.js'
import { storedRounds, type RoundStatus } from './status.js'
import { type Context, exitCodes } from '../../cli/framework/command.js'
import { printFields } from '../../cli/framework/print/fields.js'
import { triggerState } from '../../cli/views/in-words.js'
import { skipText } from './notice.js'
import { roundView, stateView, timingView } from './views.js'
import { printTable } from '../../cli/framework/print/table.js'
import type { TimeText } from '../../cli/framework/print/time-text.js'
import { timesOf } from '../../cli/framework/times-of.js'

/** Prints how one round stands. */
export async function showStatus(context: Context, app: Rota, name: string): Promise<number> {
  const { args, out } = context
  const status = await app.rounds.status(name)
  if (args.flag('json')) {
    out.json(roundView(status))
    return exitCodes.ok
  }
  const times = timesOf(context)
  const { checkedAt, nextCheckAt, completedCount } = status
  const left = status.remainingServices.length + (status.currentService === null ? 0 : 1)
  printFields(out, [
    ['round', status.name],
    ['checks', `every ${formatDuration(status.intervalMs)}`],
    [
      'checked',
      checkedAt === null ? 'not yet' : `${times.full(checkedAt)}${status.resumed ? ', resumed' : ''}`,
    ],
    ['completed', `${completedCount} of ${completedCount + left}`],
    [
      'next check',
      nextCheckAt === null ? 'none' : `${times.full(nextCheckAt)}, ${times.distance(nextCheckAt)}`,
    ],
  ])
  out.line()
  const { red, green, cyan, dim } = out.colors
  const paints: Readonly<Record<string, typeof red>> = { ok: green, error: red, running: cyan }
  printTable(out, linesOf(status, times), [
    { title: 'SERVICE', text: (line) => line.service, shortest: 12 },
    { title: 'STATE', text: (line) => line.state, paint: (line) => paints[line.state] ?? dim },
    { title: 'WHY', text: (line) => line.why, shortest: 20 },
  ])
  return exitCodes.ok
}

/** Prints when services ran last, or one of them. */
export async function showTiming(context: Context, app: Rota, service: string): Promise<number> {
  const { args, out } = context
  const found = service === '' ? await app.rounds.services() : [await app.rounds.timing(service)]
  if (args.flag('json')) {
    const [first] = found
    out.json(service === '' || first === undefined ? found.map(timingView) : timingView(first))
    return exitCodes.ok
  }
  if (found.length === 0) {
    out.say('no services yet; `rota round start` makes a round of them')
    return exitCodes.ok
  }
  const times = timesOf(context)
  const time = (seconds: number | null, none: string): string =>
    seconds === null ? none : times.full(seconds * 1000)
  printTable(out, found, [
    { title: 'SERVICE', text: (one) => one.service, shortest: 12 },
    { title: 'EVERY', text: (one) => formatDuration(one.intervalSeconds * 1000), isRight: true },
    { title: `LAST RUN (${times.zone})`, text: (one) => time(one.lastRunTimestamp, 'never'), shortest: 19 },
    { title: 'DUE', text: (one) => time(one.nextDueTimestamp, 'at the next check'), shortest: 19 },
  ])
  return exitCodes.ok
}

/** Prints what is saved of open cycles, or of one. */
export async function showState(context: Context, app: Rota, name: string): Promise<number> {
  const { args, out } = context
  const found = await app.rounds.state(name === '' ? undefined : name)
  const [first] = found
  if (args.flag('json')) {
    if (name === '') out.json(found.map((state) => ({ round: state.name, ...stateView(state) })))
    else out.json(first === undefined ? null : stateView(first))
    return exitCodes.ok
  }
  if (first === undefined) {
    out.say(name === '' ? 'no cycle is open' : `${name} has no open cycle`)
    return exitCodes.ok
  }
  const times = timesOf(context)
  printTable(out, found, [
    { title: 'ROUND', text: (state) => state.name, shortest: 12 },
    { title: `CHECKED (${times.zone})`, text: (state) => times.full(state.checkedAt) },
    { title: 'CURRENT', text: (state) => state.currentService ?? '-', shortest: 8 },
    { title: 'LEFT', text: (state) => state.servicesQueue.join(', ') || '-', shortest: 10 },
    {
      title: 'RESULTS',
      text: (state) => state.results.map(({ service, status }) => `${service} ${status}`).join(', '),
      shortest: 10,
    },
  ])
  return exitCodes.ok
}

/** Lists the rounds. */
export async function showList(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  const store = await app.store()
  const rounds = await storedRounds(store, { all: args.flag('all') })
  const holds = await store.holds({ openAt: app.now() })
  const rows = await Promise.all(
    rounds.map(async (stored) => {
      const state = triggerState(stored, holds)
      const status = await app.rounds.status(stored.trigger.name)
      return { status, state: state === 'ended' ? 'stopped' : state }
    }),
  )
  if (args.flag('json')) {
    out.json(rows.map(({ status }) => roundView(status)))
    return exitCodes.ok
  }
  if (rows.length === 0) {
    out.say('no rounds yet; `rota round start` makes one, `rota up` those of a config')
    return exitCodes.ok
  }
  const times = timesOf(context)
  printTable(out, rows, [
    { title: 'ROUND', text: ({ status }) => status.name, shortest: 12 },
    { title: 'EVERY', text: ({ status }) => formatDuration(status.intervalMs), isRight: true },
    { title: 'SERVICES', text: ({ status }) => status.services.join(', '), shortest: 10 },
    { title: 'CURRENT', text: ({ status }) => status.currentService ?? '-', shortest: 8 },
    {
      title: `NEXT (${times.zone})`,
      text: ({ status }) => (status.nextCheckAt === null ? '-' : times.short(status.nextCheckAt)),
      shortest: 14,
    },
    { title: 'STATE', text: ({ state }) => state },
  ])
  return exitCodes.ok
}

interface Line {
  readonly service: string
  readonly state: string
  readonly why: string
}

/** What becomes of each service, in the order of the list; then those of a list before it. */
function linesOf(status: RoundStatus, times: TimeText): Line[] {
  const told = [...status.results, ...status.skipped].map(({ service }) => service)
  const current = status.currentService === null ? [] : [status.currentService]
  const all = new Set([...status.services, ...told, ...current, ...status.remainingServices])
  return [...all].map((service) => {
    const result = status.results.find((one) => one.service === service)
    if (result !== undefined) return { service, state: result.status, why: result.info }
    if (status.currentService === service) return { service, state: 'running', why: '' }
    if (status.remainingServices.includes(service)) return { service, state: 'waiting', why: '' }
    const skip = status.skipped.find((one) => one.service === service)
    return {
      service,
      state: skip === undefined ? '-' : 'skipped',
      why: skip === undefined ? '' : skipText(skip, times),
    }
  })
}
