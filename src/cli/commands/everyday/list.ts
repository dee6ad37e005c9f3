import { loadTriggerKinds } from '../../../app/features.js'
import type { App } from '../../../app/rota.js'
import { describeTrigger } from '../../../engine/trigger-kind.js'
import type { StoredTrigger } from '../../../kernel/trigger/trigger.js'
import type { QueueStatus, Store } from '../../../store/port.js'
import { formatDuration } from '../../../time/duration.js'
import type { Instant } from '../../../time/instant.js'
import { type Command, type Context, storeOptions, zoneOption } from '../../framework/command.js'
import { onStore } from '../../host/on-store.js'
import { pick } from '../../../wire/to-json.js'
import { type Columns, printList } from '../../framework/print/table.js'
import { age, type TimeText } from '../../framework/print/time-text.js'
import { jobView, triggerView } from '../../../wire/views/definitions.js'
import { triggerState, type TriggerState } from '../../../wire/views/trigger-state.js'
import { handlerText } from '../../views/definition-text.js'
import { lastRuns, type LastRuns } from '../../views/last-runs.js'
import { stateColors } from '../../views/runs-table.js'

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
  examples: {
    'rota list': 'every trigger and when it is due next',
    'rota list --jobs': 'the jobs',
    'rota list --json | jq -r ".[].name"': 'for a program',
  },
  run: onStore(async (reader, context) => {
    const store = await reader.store()
    if (context.args.flag('jobs')) await listJobs(context, store)
    else if (context.args.flag('queues')) await listQueues(context, store)
    else await listTriggers(context, store, reader.now())
  }),
}

interface TriggerRow extends LastRuns {
  readonly stored: StoredTrigger
  readonly state: TriggerState
  /** When it is due, in a few words. */
  readonly when: string
}

async function listTriggers(context: Context<App>, store: Store, now: Instant): Promise<void> {
  const { args, out } = context
  const holds = await store.holds({ openAt: now })
  const triggers = (await store.triggers()).filter((stored) => stored.active || args.flag('all'))
  const names = triggers.map(({ trigger }) => trigger.name)
  if (printNames(context, names)) return
  const lately = await lastRuns(store, names, now)
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
  const lastRun = last && pick(last, ['id', 'state', 'dueAt'])
  return { ...triggerView(stored, state), lastRun, failedIn24h: failed }
}

const triggerColumns: Columns<TriggerRow> = [
  { title: 'TRIGGER', text: ({ stored }) => stored.trigger.name, shortest: 12 },
  { title: 'JOB', text: ({ stored }) => jobsText(stored.trigger), shortest: 6, spare: 2 },
  { title: 'WHEN', text: ({ when }) => when, shortest: 18 },
  { title: 'NEXT (zone)', text: nextText, shortest: 14 },
  {
    title: '',
    text: ({ stored, state }, times) =>
      state === 'on' && stored.nextAt !== undefined ? times.distance(stored.nextAt) : '',
    isRight: true,
    spare: 1,
  },
  { title: 'LAST RUN', text: lastText, color: ({ last }) => stateColors[last?.state ?? 'pending'] },
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

function nextText({ stored, state }: TriggerRow, times: TimeText): string {
  if (state !== 'on') return '-'
  return stored.nextAt === undefined ? 'after its run' : times.short(stored.nextAt)
}

/** The state of the last run, and since when: an overdue one may have been performed just now. */
function lastText({ last }: TriggerRow, { now }: TimeText): string {
  if (last === undefined) return ''
  const since = last.finishedAt ?? last.claimedAt ?? last.dueAt
  return `${last.state} ${age(Math.max(0, now - since))}`
}

/** With `--names` prints only names; returns whether it did. */
function printNames({ args, out }: Context<App>, names: readonly string[]): boolean {
  if (args.flag('names')) out.show(names, () => names.forEach((name) => out.line(name)))
  return args.flag('names')
}

async function listJobs(context: Context<App>, store: Store): Promise<void> {
  const { args, out } = context
  const jobs = (await store.jobs()).filter(({ job }) => args.flag('all') || job.ended !== true)
  const names = jobs.map(({ job }) => job.name)
  if (printNames(context, names)) return
  const rows = jobs.map((stored) => ({ ...stored.job, stored, what: handlerText(stored.job.handler) }))
  printList(out, rows, {
    empty: 'no jobs yet; `rota add` adds one, `rota up` those of a config',
    columns: [
      { key: 'name', title: 'JOB', shortest: 12 },
      { key: 'what', shortest: 12 },
      { key: 'queue', shortest: 7 },
      { title: 'TRIES', text: ({ retry }) => retry.attempts },
      { key: 'timeoutMs' },
      {
        title: 'SOURCE',
        text: ({ stored: { source }, ended }) => `${source}${ended === true ? ' (ended)' : ''}`,
        shortest: 8,
      },
    ],
    json: ({ stored }) => jobView(stored),
  })
}

function startsText({ limit }: QueueStatus): string {
  return limit === undefined ? 'any' : `at most ${limit.max} in ${formatDuration(limit.perMs)}`
}

async function listQueues(context: Context<App>, store: Store): Promise<void> {
  const queues = await store.queues()
  const names = queues.map(({ name }) => name)
  if (printNames(context, names)) return
  printList(context.out, queues, {
    empty: 'no queues yet; the first job brings the queue named default',
    columns: [
      { key: 'name', title: 'QUEUE', shortest: 12 },
      { title: 'LIMIT', text: ({ concurrency }) => String(concurrency ?? 'none'), isRight: true },
      ...(queues.some(({ limit }) => limit !== undefined) ? [{ title: 'STARTS', text: startsText }] : []),
      'ready',
      'running',
      { title: 'STATE', text: ({ paused }) => (paused ? 'paused' : 'on') },
    ],
    json: (queue) => pick(queue, ['name', 'concurrency', 'limit', 'paused', 'ready', 'running']),
  })
}
