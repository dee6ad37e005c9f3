import { loadTriggerKinds } from '../../../app/features.js'
import type { App } from '../../../app/rota.js'
import { describeTrigger } from '../../../engine/trigger-kind.js'
import type { Run } from '../../../kernel/run/run.js'
import type { StoredTrigger } from '../../../kernel/trigger/trigger.js'
import type { StoredJob } from '../../../store/port.js'
import { type Command, type Context, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { printList } from '../../framework/print/list.js'
import type { Columns } from '../../framework/print/table.js'
import { age } from '../../framework/print/time-text.js'
import { triggerState, type TriggerState } from '../../framework/print/trigger-text.js'
import { handlerText } from '../../views/in-words.js'
import { lastRuns, type LastRuns } from '../../views/last-runs.js'
import { stateColors } from '../../views/runs-table.js'
import { jobView, triggerView } from '../../views/views.js'

/** `rota list`: lists triggers, jobs or queues. */
export const list: Command<App> = {
  name: 'list',
  about:
    'Lists the triggers with their schedule, when they are due next, how the last run went and how many failed within 24 hours; or the jobs, or the queues.',
  options: [
    { name: 'jobs', help: 'list jobs instead' },
    { name: 'queues', help: 'list queues instead' },
    { name: 'all', short: 'a', help: 'also the triggers and jobs that their source no longer defines' },
    { name: 'names', help: 'print nothing but names, one per line' },
    zoneOption,
    ...storeOptions,
  ],
  examples: [
    { line: 'rota list', meaning: 'every trigger and when it is due next' },
    { line: 'rota list --jobs', meaning: 'the jobs' },
    { line: 'rota list --json | jq -r ".[].name"', meaning: 'for a program' },
  ],
  run: (context) =>
    context.withApp(async (app) => {
      if (context.args.flag('jobs')) await listJobs(context, app)
      else if (context.args.flag('queues')) await listQueues(context, app)
      else await listTriggers(context, app)
      return exitCodes.ok
    }),
}

interface TriggerRow extends LastRuns {
  readonly stored: StoredTrigger
  readonly state: TriggerState
  /** When it is due, in a few words. */
  readonly when: string
}

async function listTriggers(context: Context<App>, app: App): Promise<void> {
  const { args, out } = context
  const holds = await (await app.store()).holds({ openAt: app.now() })
  const triggers = (await app.triggers.list()).filter((stored) => stored.active || args.flag('all'))
  const names = triggers.map(({ trigger }) => trigger.name)
  if (args.flag('names')) {
    printNames(context, names)
    return
  }
  const lately = await lastRuns(app, names)
  const kinds = await loadTriggerKinds()
  const rows = triggers.map((stored): TriggerRow => {
    const when = describeTrigger(kinds, stored.trigger)
    return { stored, state: triggerState(stored, holds), when, ...lately(stored.trigger.name) }
  })
  printList(out, rows, {
    empty: 'no triggers yet; `rota add` adds one, `rota up` those of a config',
    columns: triggerColumns,
    json: rowView,
  })
  const isFrozen = holds.some((hold) => hold.target === 'all')
  if (isFrozen && rows.length > 0 && !out.isJson) out.say('everything is frozen; `rota thaw` ends it')
}

function rowView({ stored, state, last, failed }: TriggerRow) {
  const lastRun = last === undefined ? undefined : { id: last.id, state: last.state, dueAt: last.dueAt }
  return { ...triggerView(stored, state), lastRun, failedIn24h: failed }
}

const triggerColumns: Columns<TriggerRow> = [
  { title: 'TRIGGER', text: ({ stored }) => stored.trigger.name, shortest: 12 },
  { title: 'JOB', text: ({ stored }) => jobsText(stored.trigger), shortest: 6, spare: 2 },
  { title: 'WHEN', text: ({ when }) => when, shortest: 18 },
  {
    title: 'NEXT (zone)',
    text: (row, times) => nextText(row, (at) => times.short(at)),
    shortest: 14,
  },
  {
    title: '',
    text: ({ stored, state }, times) =>
      state === 'on' && stored.nextAt !== undefined ? times.distance(stored.nextAt) : '',
    isRight: true,
    spare: 1,
  },
  {
    title: 'LAST RUN',
    text: ({ last }, { now }) =>
      last === undefined ? '' : `${last.state} ${age(Math.max(0, now - stateSince(last)))}`,
    color: ({ last }) => stateColors[last?.state ?? 'pending'],
  },
  {
    title: 'FAILED',
    text: ({ failed }) => (failed === 0 ? '' : `${failed} in 24h`),
    color: () => 'red',
    spare: 3,
  },
  { key: 'state', colors: { on: 'green', '*': 'yellow' } },
]

function jobsText({ job, round }: StoredTrigger['trigger']): string {
  return round?.services.map((service) => service.job).join(', ') ?? job
}

function nextText({ stored, state }: TriggerRow, format: (at: number) => string): string {
  if (state !== 'on') return '-'
  return stored.nextAt === undefined ? 'after its run' : format(stored.nextAt)
}

/** Since when a run is in its state: an overdue one may have been performed just now. */
function stateSince({ finishedAt, claimedAt, dueAt }: Run): number {
  return finishedAt ?? claimedAt ?? dueAt
}

function printNames({ out }: Context<App>, names: readonly string[]): void {
  out.show(names, () => {
    for (const name of names) out.line(name)
  })
}

async function listJobs(context: Context<App>, app: App): Promise<void> {
  const { args, out } = context
  const jobs = (await app.jobs.list()).filter(({ job }) => args.flag('all') || job.ended !== true)
  if (args.flag('names')) {
    printNames(
      context,
      jobs.map(({ job }) => job.name),
    )
    return
  }
  const rows = jobs.map((stored) => ({ ...stored.job, stored, what: handlerText(stored.job.handler) }))
  printList(out, rows, {
    empty: 'no jobs yet; `rota add` adds one, `rota up` those of a config',
    columns: [
      { key: 'name', title: 'JOB', shortest: 12 },
      { key: 'what', shortest: 12 },
      { key: 'queue', shortest: 7 },
      { title: 'TRIES', text: ({ retry }) => String(retry.attempts), isRight: true },
      { key: 'timeoutMs' },
      { title: 'SOURCE', text: ({ stored }) => sourceText(stored), shortest: 8 },
    ],
    json: ({ stored }) => jobView(stored),
  })
}

function sourceText({ job, source }: StoredJob): string {
  return `${source}${job.ended === true ? ' (ended)' : ''}`
}

async function listQueues(context: Context<App>, app: App): Promise<void> {
  const queues = await (await app.store()).queues()
  if (context.args.flag('names')) {
    printNames(
      context,
      queues.map(({ name }) => name),
    )
    return
  }
  const rows = queues.map(({ name, concurrency, paused, ready, running }) => {
    return { name, concurrency, paused, ready, running }
  })
  printList(context.out, rows, {
    empty: 'no queues yet; the first job brings the queue named default',
    columns: [
      { key: 'name', title: 'QUEUE', shortest: 12 },
      { title: 'LIMIT', text: ({ concurrency }) => String(concurrency ?? 'none'), isRight: true },
      'ready',
      'running',
      { title: 'STATE', text: ({ paused }) => (paused ? 'paused' : 'on') },
    ],
  })
}
