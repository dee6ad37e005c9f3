import type { Hold } from '../../../kernel/hold/hold.js'
import type { Run } from '../../../kernel/run/run.js'
import type { StoredTrigger } from '../../../kernel/trigger/trigger.js'
import type { Rota } from '../../../app/rota.js'
import { formatDuration } from '../../../time/duration.js'
import { type Command, type Context, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { handlerText, scheduleText, triggerState, type TriggerState } from '../../views/in-words.js'
import { lastRuns, type LastRuns } from '../../views/last-runs.js'
import { statePaint } from '../../views/runs-table.js'
import type { Colors, Paint } from '../../framework/print/output.js'
import { printTable } from '../../framework/print/table.js'
import { age } from '../../framework/print/time-text.js'
import { timesOf } from '../../framework/times-of.js'
import { jobView, queueView, triggerView } from '../../views/views.js'
import { withApp } from '../../host/with-app.js'

/** `rota list`: lists triggers, jobs or queues. */
export const list: Command = {
  name: 'list',
  about:
    'Lists the triggers with their schedule, when they are due next, how the last run went and how many failed within 24 hours; or the jobs, or the queues.',
  arguments: [],
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
    { line: 'rota list --jobs', meaning: 'what there is to run' },
    { line: 'rota list --json | jq -r ".[].name"', meaning: 'for a program' },
  ],
  run: (context) =>
    withApp(context, async (app) => {
      if (context.args.flag('jobs')) return await listJobs(context, app)
      if (context.args.flag('queues')) return await listQueues(context, app)
      return await listTriggers(context, app)
    }),
}

interface TriggerRow extends LastRuns {
  readonly stored: StoredTrigger
  readonly state: TriggerState
}

async function listTriggers(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  const holds = await (await app.store()).holds({ openAt: app.now() })
  const triggers = (await app.triggers.list()).filter((stored) => stored.active || args.flag('all'))
  const names = triggers.map(({ trigger }) => trigger.name)
  if (args.flag('names')) {
    printNames(context, names)
    return exitCodes.ok
  }
  const lately = await lastRuns(app, names)
  const rows = triggers.map((stored): TriggerRow => {
    return { stored, state: triggerState(stored, holds), ...lately(stored.trigger.name) }
  })
  if (args.flag('json')) out.json(rows.map(rowView))
  else if (rows.length === 0) out.say('no triggers yet; `rota add` makes one, `rota up` those of a config')
  else printTriggers(context, rows, holds)
  return exitCodes.ok
}

function rowView({ stored, state, last, failed }: TriggerRow) {
  const { id, state: runState, dueAt } = last ?? {}
  const lastRun = dueAt === undefined ? null : { id, state: runState, dueAt: new Date(dueAt).toISOString() }
  return { ...triggerView(stored, state), lastRun, failedIn24h: failed }
}

function printTriggers(context: Context, rows: readonly TriggerRow[], holds: readonly Hold[]): void {
  const { out } = context
  const times = timesOf(context)
  printTable(out, rows, [
    { title: 'TRIGGER', text: ({ stored }) => stored.trigger.name, shortest: 12 },
    { title: 'JOB', text: ({ stored }) => jobsText(stored.trigger), shortest: 6, spare: 2 },
    { title: 'WHEN', text: ({ stored }) => scheduleText(stored.trigger.schedule), shortest: 18 },
    { title: `NEXT (${times.zone})`, text: (row) => nextText(row, (at) => times.short(at)), shortest: 14 },
    {
      title: '',
      text: ({ stored, state }) =>
        state === 'on' && stored.nextAt !== undefined ? times.distance(stored.nextAt) : '',
      isRight: true,
      spare: 1,
    },
    {
      title: 'LAST RUN',
      text: ({ last }) =>
        last === undefined ? '' : `${last.state} ${age(Math.max(0, times.now - stateSince(last)))}`,
      paint: ({ last }) => statePaint(out.colors, last?.state ?? 'pending'),
    },
    {
      title: 'FAILED',
      text: ({ failed }) => (failed === 0 ? '' : `${failed} in 24h`),
      paint: () => out.colors.red,
      spare: 3,
    },
    { title: 'STATE', text: ({ state }) => state, paint: ({ state }) => paintOf(out.colors, state) },
  ])
  if (holds.some((hold) => hold.target === 'all')) out.say('everything is frozen; `rota thaw` ends it')
}

function jobsText({ job, round }: StoredTrigger['trigger']): string {
  return round?.services.map((service) => service.job).join(', ') ?? job
}

function nextText({ stored, state }: TriggerRow, format: (at: number) => string): string {
  if (state !== 'on') return '-'
  return stored.nextAt === undefined ? 'after its run' : format(stored.nextAt)
}

function paintOf(colors: Colors, state: TriggerState): Paint {
  return state === 'on' ? colors.green : colors.yellow
}

function printNames({ args, out }: Context, names: readonly string[]): void {
  if (args.flag('json')) out.json(names)
  else for (const name of names) out.line(name)
}

async function listJobs(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  const jobs = (await app.jobs.list()).filter(({ job }) => args.flag('all') || job.ended !== true)
  const names = jobs.map(({ job }) => job.name)
  if (args.flag('names')) printNames(context, names)
  else if (args.flag('json')) out.json(jobs.map(jobView))
  else if (jobs.length === 0) out.say('no jobs yet; `rota add` makes one, `rota up` those of a config')
  else {
    printTable(out, jobs, [
      { title: 'JOB', text: ({ job }) => job.name, shortest: 12 },
      { title: 'WHAT', text: ({ job }) => handlerText(job.handler), shortest: 12 },
      { title: 'QUEUE', text: ({ job }) => job.queue, shortest: 7 },
      { title: 'TRIES', text: ({ job }) => String(job.retry.attempts), isRight: true },
      {
        title: 'TIMEOUT',
        text: ({ job }) => (job.timeoutMs === undefined ? '' : formatDuration(job.timeoutMs)),
        isRight: true,
      },
      {
        title: 'SOURCE',
        text: ({ job, source }) => `${source}${job.ended === true ? ' (ended)' : ''}`,
        shortest: 8,
      },
    ])
  }
  return exitCodes.ok
}

async function listQueues(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  const queues = await (await app.store()).queues()
  const names = queues.map(({ name }) => name)
  if (args.flag('names')) printNames(context, names)
  else if (args.flag('json')) out.json(queues.map(queueView))
  else if (queues.length === 0) out.say('no queues yet; the first job brings the queue named default')
  else {
    printTable(out, queues, [
      { title: 'QUEUE', text: ({ name }) => name, shortest: 12 },
      { title: 'LIMIT', text: ({ concurrency }) => String(concurrency ?? 'none'), isRight: true },
      { title: 'READY', text: ({ ready }) => String(ready), isRight: true },
      { title: 'RUNNING', text: ({ running }) => String(running), isRight: true },
      { title: 'STATE', text: ({ paused }) => (paused ? 'paused' : 'on') },
    ])
  }
  return exitCodes.ok
}

/** Since when a run is in its state: an overdue one may have been performed just now. */
function stateSince({ finishedAt, claimedAt, dueAt }: Run): number {
  return finishedAt ?? claimedAt ?? dueAt
}
