import type { EngineEvents, EventName, RunNotice } from '../../engine/events.js'
import type { LedgerRange } from '../../kernel/ledger/ledger.js'
import { taskIdOf } from '../../kernel/run/task.js'
import type { App } from '../../app/rota.js'
import type { Instant } from '../../time/instant.js'
import type { Fault } from '../../kernel/definition/errors.js'
import { describeFailure } from '../framework/failure.js'
import { rangeText, shortId } from './in-words.js'
import { count } from '../framework/print/words.js'
import { roughly, type TimeText } from '../framework/print/time-text.js'
import type { FeatureNotices } from '../../features/feature-notices.js'
import type { Notice, NoticeText } from '../framework/print/notice.js'
import { pick } from '../framework/print/json.js'
import { rangeFields } from '../framework/print/trigger-text.js'

/** How events are put into words. */
export interface EventWords {
  readonly times: () => TimeText
  /** The words of features for what is theirs. */
  readonly notices: readonly FeatureNotices[]
}

/** Tells of everything that an app's engine does. */
export function tellEvents(
  app: Pick<App, 'on'>,
  { times, notices: features }: EventWords,
  tell: (notice: Notice) => void,
): void {
  const subjectOf = (run: RunNotice): string => {
    const [own = run.trigger ?? run.job] = features.flatMap(({ subject }) => subject?.(run) ?? [])
    return own
  }
  const about = (run: RunNotice): Pick<Notice, 'subject' | 'data'> => {
    return { subject: subjectOf(run), data: runData(run) }
  }
  const started = new Map<string, { readonly subject: string; readonly task: string }>()
  const on = <Name extends EventName>(
    name: Name,
    notices: (event: EngineEvents[Name]) => readonly NoticeText[],
  ): void => {
    app.on(name, (event) => {
      for (const notice of notices(event)) tell({ ...notice, event: name })
    })
  }
  on('tick', (tick) => [
    tickNotice(tick),
    ...tick.ranges.map((range) => {
      const [own] = features.flatMap((one) => one.range?.(range, tick, times()) ?? [])
      return own ?? rangeNotice(range, times())
    }),
  ])
  on('run:started', (run) => {
    started.set(run.run, { subject: subjectOf(run), task: taskIdOf(run) })
    return [{ ...about(run), level: 'info', symbol: '▸', text: startText(run, times()) }]
  })
  on('run:log', ({ run, job, level, text }) => {
    const { subject = job, task } = started.get(run) ?? {}
    const data = { run, job, taskId: task, lineLevel: level }
    return [{ level: 'info', symbol: '│', subject, text, data }]
  })
  on('run:ended', (ended) => {
    started.delete(ended.run)
    return [endNotice(ended, about(ended), times())]
  })
  on('run:refused', (run) => [
    { ...about(run), level: 'warn', symbol: '!', text: 'its result came too late and was refused' },
  ])
  on('run:lost', ({ run, job, attempt, worker, state }) => {
    const text = `lost with worker ${worker} in attempt ${attempt}; ${state === 'failed' ? 'quarantined' : 'runs again'}`
    return [{ level: 'warn', symbol: '!', subject: job, text, data: { run, job, attempt, worker, state } }]
  })
  on('run:stuck', (run) => [
    {
      ...about(run),
      level: 'warn',
      symbol: '!',
      text: 'ignores the signal to stop; its slot stays taken',
    },
  ])
  on('run:offered', (offered) => (offered.times === 1 ? [offerNotice(offered, subjectOf(offered))] : []))
  on('operation', (operation) => [operationNotice(operation)])
  on('definitions', (changed) => [definitionsNotice(changed)])
  for (const { events = {} } of features) {
    for (const [name, notices] of Object.entries(events)) on(name as EventName, notices as never)
  }
  on('worker:expired', ({ worker }) => [
    general('warn', 'worker', `the lease of ${worker} expired; it took a new id`, { worker }),
  ])
  on('worker:not-ready', ({ stuck }) => [
    general('error', 'worker', `${count(stuck, 'run')} ignored the signal to stop; no slot is left`, {
      stuck,
    }),
  ])
  on('worker:draining', ({ worker, running }) => {
    const left = running === 0 ? '' : `; ${count(running, 'run')} to finish`
    return [general('info', 'worker', `draining: claims nothing more${left}`, { worker, running })]
  })
  on('worker:drained', ({ worker }) => [
    general('info', 'worker', 'drained: nothing is left; stopping', { worker }),
  ])
  on('worker:undrained', ({ worker }) => [
    general('info', 'worker', 'no longer draining: claims runs again', { worker }),
  ])
  on('clock', onlyWhenNew(clockNotice))
  on('trouble', ({ where, error, retryInMs }) => {
    const { code, message, faults } = describeFailure(error)
    const again = retryInMs > 0 ? `; retrying in ${roughly(retryInMs)}` : ''
    const text = `${message}${faultsText(faults)} [${code}]${again}`
    return [general('warn', where, text, { where, code, message, faults, retryInMs })]
  })
  on('fatal', ({ where, error }) => {
    const { code, message } = describeFailure(error)
    return [general('error', where, `${message} [${code}]; stopping the engine`, { where, code, message })]
  })
}

/** The first faults, where they are and what they are; there may be a hundred. */
function faultsText(faults: readonly Fault[]): string {
  const told = faults.filter(({ path }) => path !== '').slice(0, mostFaults)
  if (told.length === 0) return ''
  const more = faults.length > told.length ? `; ${faults.length - told.length} more` : ''
  return `: ${told.map(({ path, message }) => `${path}: ${message}`).join('; ')}${more}`
}

const mostFaults = 3

function runData(notice: RunNotice): Notice['data'] {
  const { run, job, trigger, attempt, dueAt } = notice
  const task = taskIdOf(notice)
  return { run, job, trigger, taskId: task, attempt, dueAt }
}

function startText({ run, attempt, dueAt }: RunNotice, times: TimeText): string {
  const tries = attempt > 1 ? `, attempt ${attempt}` : ''
  return `started, due ${times.near(dueAt)}${tries} (${shortId(run)})`
}

function endNotice(
  ended: EngineEvents['run:ended'],
  told: Pick<Notice, 'subject' | 'data'>,
  times: TimeText,
): NoticeText {
  const { end, state, durationMs, error, retryAt, attempt } = ended
  const data = { ...told.data, end, state, durationMs, error, retryAt }
  const took = roughly(durationMs)
  const tries = attempt > 1 ? `, attempt ${attempt}` : ''
  const why = error === undefined ? '' : `: ${firstLine(error.message)}`
  if (state === 'done') return { ...told, data, level: 'info', symbol: '✓', text: `done in ${took}${tries}` }
  if (end === 'released') {
    return {
      ...told,
      data,
      level: 'info',
      symbol: '↻',
      text: `released after ${took}; runs again elsewhere`,
    }
  }
  const text = `${end} after ${took}, attempt ${attempt}${why}`
  if (retryAt === undefined) return { ...told, data, level: 'error', symbol: '✗', text }
  return { ...told, data, level: 'warn', symbol: '↻', text: `${text}; again ${againText(retryAt, times)}` }
}

function againText(at: Instant, times: TimeText): string {
  return `in ${roughly(Math.max(0, at - times.now))} (${times.clock(at)})`
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}

/** The runs of a tick tell of themselves when they start; a program may want to know when they were planned. */
function tickNotice({ trigger, at, runs, ranges }: EngineEvents['tick']): NoticeText {
  const text = `planned ${count(runs.length, 'run')}`
  const data = {
    trigger,
    at,
    runs: runs.slice(0, mostIds).map(({ id, dueAt }) => ({ run: id, dueAt })),
    count: runs.length,
    ranges: ranges.length,
  }
  return { level: 'debug', symbol: '·', subject: trigger, text, data }
}

const mostIds = 10

function offerNotice(offered: EngineEvents['run:offered'], subject: string): NoticeText {
  const { run, job, trigger, attempt, dueAt, schedule, waitedMs } = offered
  const data = {
    ...runData({ run, job, trigger, attempt, dueAt }),
    schedule,
    waitedMs,
  }
  const text = `not claimed for ${roughly(waitedMs)}; offered on the bus (${shortId(run)})`
  return { level: 'warn', symbol: '!', subject, text, data }
}

function operationNotice({
  operation,
  target,
  outcome,
  details = {},
}: EngineEvents['operation']): NoticeText {
  const { message } = details as { readonly message?: unknown }
  const why = typeof message === 'string' ? `: ${firstLine(message)}` : ''
  const text = `${operation}: ${outcome}${why}`
  const data = { operation, target, outcome, ...details }
  return {
    level: outcome === 'failed' || outcome === 'warning' ? 'warn' : 'info',
    symbol: '·',
    subject: target,
    text,
    data,
  }
}

function definitionsNotice({ source, defined, changed, ended }: EngineEvents['definitions']): NoticeText {
  const parts = [
    ['defined', defined] as const,
    ['changed', changed] as const,
    ['ended', ended] as const,
  ].flatMap(([what, names]) => (names.length === 0 ? [] : [`${what} ${namesText(names)}`]))
  const data = {
    source,
    defined: defined.slice(0, mostIds),
    changed: changed.slice(0, mostIds),
    ended: ended.slice(0, mostIds),
    count: defined.length + changed.length + ended.length,
  }
  return { level: 'info', symbol: '·', subject: source, text: parts.join('; '), data }
}

function namesText(names: readonly string[]): string {
  const more = names.length > mostIds ? ` and ${names.length - mostIds} more` : ''
  return `${names.slice(0, mostIds).join(', ')}${more}`
}

function rangeNotice(range: LedgerRange, times: TimeText): NoticeText {
  const data = { trigger: range.trigger, ...pick(range, rangeFields) }
  return { level: 'info', symbol: '–', subject: range.trigger, text: rangeText(range, times), data }
}

function clockNotice({ kind, byMs }: EngineEvents['clock']): NoticeText {
  const by = roughly(byMs)
  switch (kind) {
    case 'behind':
      return general(
        'warn',
        'clock',
        `the wall clock is ${by} behind the store; nothing is planned until it has caught up`,
        { kind, byMs },
      )
    case 'unsure':
      return general(
        'warn',
        'clock',
        `the wall clock jumped ${by} ahead; planning waits until a second reading agrees`,
        { kind, byMs },
      )
    case 'refused':
      return general(
        'error',
        'clock',
        `the wall clock is ${by} ahead of the store; if it is right, start with --accept-clock`,
        { kind, byMs },
      )
  }
}

/** The clock is looked at every few seconds; saying the same each time would bury everything else. */
function onlyWhenNew(
  notice: (event: EngineEvents['clock']) => NoticeText,
): (event: EngineEvents['clock']) => NoticeText[] {
  let last = ''
  return (event) => {
    if (event.kind === last) return []
    last = event.kind
    return [notice(event)]
  }
}

function general(level: Notice['level'], subject: string, text: string, data: Notice['data']): NoticeText {
  return { level, symbol: level === 'info' ? '·' : '!', subject, text, data }
}
