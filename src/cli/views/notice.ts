import type { EngineEvents, EventName, RunNotice } from '../../engine/events.js'
import { taskIdOf } from '../../kernel/run/task.js'
import type { App } from '../../app/rota.js'
import type { Fault } from '../../kernel/definition/errors.js'
import { describeFailure } from '../framework/failure.js'
import { rangeText, shortId } from './ledger-reason-text.js'
import { count } from '../framework/print/words.js'
import { roughly, type TimeText } from '../framework/print/time-text.js'
import type { FeatureNotices } from '../../features/feature-notices.js'
import type { Notice, NoticeText } from '../framework/print/notice.js'
import { pick } from '../../wire/to-json.js'
import { rangeFields } from '../../wire/views/why.js'

/** How events are formatted. */
export interface EventWords {
  readonly times: () => TimeText
  /** The notices of features for their own events. */
  readonly notices: readonly FeatureNotices[]
}

/** Prints all events of an app's engine. */
export function printEvents(app: Pick<App, 'on'>, words: EventWords, tell: (notice: Notice) => void): void {
  const ofFeatures = words.notices.flatMap(({ events = {} }) => Object.entries(events))
  for (const [name, notices] of [...Object.entries(engineNotices(words)), ...ofFeatures]) {
    app.on(name as EventName, (event) => {
      for (const { level = 'info', ...notice } of notices(event as never)) {
        const symbol = level === 'info' ? '·' : '!'
        tell({ symbol, data: event as Notice['data'], ...notice, level, event: name })
      }
    })
  }
}

function engineNotices({ times, notices: features }: EventWords): NonNullable<FeatureNotices['events']> {
  const started = new Map<string, { readonly subject: string; readonly task: string }>()
  const subjectOf = (run: RunNotice): string =>
    features.flatMap(({ subject }) => subject?.(run) ?? [])[0] ?? run.trigger ?? run.job
  const about = (run: RunNotice): Pick<Notice, 'subject' | 'data'> => {
    return { subject: subjectOf(run), data: runData(run) }
  }
  const rangeNotice: NonNullable<FeatureNotices['range']> = (range, tick) => {
    const [own] = features.flatMap((one) => one.range?.(range, tick, times()) ?? [])
    const data = { trigger: range.trigger, ...pick(range, rangeFields) }
    return own ?? { symbol: '–', subject: range.trigger, text: rangeText(range, times()), data }
  }
  let lastClock = ''
  return {
    tick: (tick) => [
      tickNotice(tick),
      ...tick.ranges.flatMap((range) => rangeNotice(range, tick, times()) ?? []),
    ],
    'run:started': (run) => {
      started.set(run.run, { subject: subjectOf(run), task: taskIdOf(run) })
      const tries = run.attempt > 1 ? `, attempt ${run.attempt}` : ''
      const text = `started, due ${times().near(run.dueAt)}${tries} (${shortId(run.run)})`
      return [{ ...about(run), symbol: '▸', text }]
    },
    'run:log': ({ run, job, level, text }) => {
      const { subject = job, task } = started.get(run) ?? {}
      return [{ symbol: '│', subject, text, data: { run, job, taskId: task, lineLevel: level } }]
    },
    'run:ended': (ended) => {
      started.delete(ended.run)
      const { end, state, durationMs, error, retryAt } = ended
      const { subject, data } = about(ended)
      return [
        {
          ...endNotice(ended, times()),
          subject,
          data: { ...data, end, state, durationMs, error, retryAt },
        },
      ]
    },
    'run:refused': (run) => [
      { ...about(run), level: 'warn', text: 'its result came too late and was refused' },
    ],
    'run:lost': ({ job, attempt, worker, state }) => {
      const next = state === 'failed' ? 'quarantined' : 'runs again'
      const text = `lost with worker ${worker} in attempt ${attempt}; ${next}`
      return [{ level: 'warn', subject: job, text }]
    },
    'run:stuck': (run) => [
      { ...about(run), level: 'warn', text: 'ignores the signal to stop; its slot stays taken' },
    ],
    'run:offered': ({ times: offers, schedule, waitedMs, ...run }) => {
      const text = `not claimed for ${roughly(waitedMs)}; offered on the bus (${shortId(run.run)})`
      const data = { ...runData(run), schedule, waitedMs }
      return offers === 1 ? [{ level: 'warn', subject: subjectOf(run), text, data }] : []
    },
    operation: ({ operation, target, outcome, details = {} }) => {
      const { message } = details as { readonly message?: unknown }
      const why = typeof message === 'string' ? `: ${firstLine(message)}` : ''
      const level = outcome === 'failed' || outcome === 'warning' ? 'warn' : 'info'
      const data = { operation, target, outcome, ...details }
      return [{ level, symbol: '·', subject: target, text: `${operation}: ${outcome}${why}`, data }]
    },
    definitions: (changes) => [definitionsNotice(changes)],
    'worker:expired': ({ worker }) => [
      { level: 'warn', subject: 'worker', text: `the lease of ${worker} expired; it took a new id` },
    ],
    'worker:not-ready': ({ stuck }) => {
      const text = `${count(stuck, 'run')} ignored the signal to stop; no slot is left`
      return [{ level: 'error', subject: 'worker', text }]
    },
    'worker:draining': ({ running }) => {
      const left = running === 0 ? '' : `; ${count(running, 'run')} to finish`
      return [{ subject: 'worker', text: `draining: claims nothing more${left}` }]
    },
    'worker:drained': () => [{ subject: 'worker', text: 'drained: nothing is left; stopping' }],
    'worker:undrained': () => [{ subject: 'worker', text: 'no longer draining: claims runs again' }],
    clock: ({ kind, byMs }) => {
      // The clock is checked every few seconds; repeating the same message would hide everything else.
      if (kind === lastClock) return []
      lastClock = kind
      const text = `the wall clock ${clockTexts[kind](roughly(byMs))}`
      return [{ level: kind === 'refused' ? 'error' : 'warn', subject: 'clock', text }]
    },
    trouble: ({ where, error, retryInMs }) => {
      const { code, message, faults } = describeFailure(error)
      const again = retryInMs > 0 ? `; retrying in ${roughly(retryInMs)}` : ''
      const text = `${message}${faultsText(faults)} [${code}]${again}`
      return [{ level: 'warn', subject: where, text, data: { where, code, message, faults, retryInMs } }]
    },
    fatal: ({ where, error }) => {
      const { code, message } = describeFailure(error)
      const text = `${message} [${code}]; stopping the engine`
      return [{ level: 'error', subject: where, text, data: { where, code, message } }]
    },
  }
}

const clockTexts: Readonly<Record<EngineEvents['clock']['kind'], (by: string) => string>> = {
  behind: (by) => `is ${by} behind the store; nothing is planned until it has caught up`,
  unsure: (by) => `jumped ${by} ahead; planning waits until a second reading agrees`,
  refused: (by) => `is ${by} ahead of the store; if it is right, start with --accept-clock`,
}

/** The first faults with their places; there may be a hundred. */
function faultsText(faults: readonly Fault[]): string {
  const listed = faults.filter(({ path }) => path !== '').slice(0, mostFaults)
  if (listed.length === 0) return ''
  const more = faults.length > listed.length ? `; ${faults.length - listed.length} more` : ''
  return `: ${listed.map(({ path, message }) => `${path}: ${message}`).join('; ')}${more}`
}

const mostFaults = 3

function runData(notice: RunNotice): Notice['data'] {
  const { run, job, trigger, attempt, dueAt } = notice
  return { run, job, trigger, taskId: taskIdOf(notice), attempt, dueAt }
}

function endNotice(ended: EngineEvents['run:ended'], times: TimeText): Omit<NoticeText, 'subject'> {
  const { end, state, error, retryAt, attempt } = ended
  const took = roughly(ended.durationMs)
  if (state === 'done')
    return { symbol: '✓', text: `done in ${took}${attempt > 1 ? `, attempt ${attempt}` : ''}` }
  if (end === 'released') return { symbol: '↻', text: `released after ${took}; runs again elsewhere` }
  const why = error === undefined ? '' : `: ${firstLine(error.message)}`
  const text = `${end} after ${took}, attempt ${attempt}${why}`
  if (retryAt === undefined) return { level: 'error', symbol: '✗', text }
  const again = `in ${roughly(Math.max(0, retryAt - times.now))} (${times.clock(retryAt)})`
  return { level: 'warn', symbol: '↻', text: `${text}; again ${again}` }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}

/** Only for programs: for people, the runs of a tick are printed when they start. */
function tickNotice({ trigger, at, runs, ranges }: EngineEvents['tick']): NoticeText {
  const first = runs.slice(0, mostIds).map(({ id, dueAt }) => ({ run: id, dueAt }))
  const data = { trigger, at, runs: first, count: runs.length, ranges: ranges.length }
  return { level: 'debug', symbol: '·', subject: trigger, text: `planned ${count(runs.length, 'run')}`, data }
}

const mostIds = 10

function definitionsNotice({ source, ...changes }: EngineEvents['definitions']): NoticeText {
  const { defined, changed, ended } = changes
  const all = Object.entries({ defined, changed, ended }).filter(([, names]) => names.length > 0)
  const first = (names: readonly string[]): readonly string[] => names.slice(0, mostIds)
  const data = {
    source,
    defined: first(defined),
    changed: first(changed),
    ended: first(ended),
    count: defined.length + changed.length + ended.length,
  }
  const texts = all.map(([what, names]) => {
    const more = names.length > mostIds ? ` and ${names.length - mostIds} more` : ''
    return `${what} ${first(names).join(', ')}${more}`
  })
  return { subject: source, text: texts.join('; '), data }
}
