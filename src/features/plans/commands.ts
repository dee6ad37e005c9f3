import type { ProgramParts } from '../feature.js'
import { resolve } from 'node:path'
import type { CheckedPlan } from './check.js'
import type { EnqueuedEntry, EntryRequest } from './enqueue-entry.js'
import { formatInstant } from '../../time/instant.js'
import { systemClock } from '../../time/clock.js'
import { chosenWord, refuseStray } from '../../cli/framework/actions.js'
import {
  type Command,
  type Context,
  configOption,
  exitCodes,
  jsonOption,
  storeOption,
} from '../../cli/framework/command.js'
import { oneShot, queueDirOption, queueOf, type QueueContext } from './queue/one-shot.js'
import { printTable } from '../../cli/framework/print/table.js'
import { usageError } from '../../cli/framework/usage-error.js'

const actions = ['check', 'enqueue'] as const

/** `rota plan`: shows what a plan file comes to. */
export const plan = (program: ProgramParts): Command => ({
  name: 'plan',
  about:
    'check reads a plan file and the pipeline files of what is still to come, and shows its entries: when each is due, in the plan’s zone and in UTC, its id, and whether it is in the future, due (within the last 24 hours) or missed. Nothing is written. All faults are listed at once, with line and column. enqueue makes one entry a run, also one that was missed: in the queue directory of `rota schedule`, or with --store or --config in the store of an engine. An entry that was enqueued before is not enqueued again.',
  arguments: [
    { name: 'action', help: actions.join(', '), choices: actions },
    { name: 'file', help: 'a plan in YAML' },
    { name: 'id', help: 'for enqueue: the job_id or run_id of the entry', isOptional: true },
  ],
  options: [
    queueDirOption,
    { ...storeOption, help: 'enqueue: the store of an engine, instead of a queue directory' },
    { ...configOption, help: 'enqueue: the config that names that store' },
    { name: 'dry-run', help: 'enqueue: only say what would be done' },
    jsonOption,
  ],
  examples: [
    { line: 'rota plan check schedule_plan.yaml', meaning: 'look before it counts' },
    { line: 'rota plan check schedule_plan.yaml --json', meaning: 'with run ids and params' },
    { line: 'rota plan enqueue schedule_plan.yaml 96b0037ff184', meaning: 'an entry that was missed' },
  ],
  run: async (context) =>
    actionOf(context) === 'check' ? await check(context) : await enqueue({ ...context, program }),
})

type Action = (typeof actions)[number]

function actionOf(context: Context): Action {
  const { args } = context
  const action = chosenWord(args.word(0), { command: 'plan', known: actions })
  const hint = '`rota plan --help` shows examples'
  const hasId = args.optionalWord(2) !== undefined
  if (action === 'enqueue' && !hasId)
    throw usageError([{ path: '<id>', message: 'it is missing', allowed: 'a job_id or run_id' }], hint)
  if (action === 'check' && hasId) throw usageError([{ path: '<id>', message: 'check takes none' }], hint)
  const only = ['enqueue'] as const
  const owners = { 'queue-dir': only, store: only, config: only, 'dry-run': only }
  refuseStray(context, action, { command: 'plan', owners })
  if (args.flag('queue-dir') && (args.flag('store') || args.flag('config'))) {
    const message = 'a queue directory and a store cannot be given together'
    throw usageError([{ path: '--queue-dir', message, allowed: 'one of them' }], hint)
  }
  return action
}

async function check(context: Context): Promise<number> {
  const { args, out, directory } = context
  const path = args.word(1)
  const { checkPlan } = await import('./check.js')
  const checked = await checkPlan(path, { directory, now: systemClock.now() })
  if (args.flag('json')) out.json(view(path, checked))
  else print(context, checked)
  return exitCodes.ok
}

async function enqueue(context: QueueContext): Promise<number> {
  return await oneShot(context, async (switches) => {
    if (switches.scheduler === false) {
      context.out.note('SCHEDULER_ENABLED is off: nothing was enqueued')
      return exitCodes.ok
    }
    const { args } = context
    return args.flag('store') || args.flag('config') ? await inStore(context) : await inQueue(context)
  })
}

/** What is asked, but for where. */
async function requestOf({ args, directory }: Context): Promise<EntryRequest> {
  const planPath = args.word(1)
  const { loadPlan } = await import('./file.js')
  const { planSourceName } = await import('./source.js')
  const { entryOf } = await import('./enqueue-entry.js')
  const plan = await loadPlan(resolve(directory, planPath))
  // Before a queue is made for nothing.
  entryOf({ plan, planPath, id: args.word(2) })
  return {
    plan,
    planPath,
    source: planSourceName(planPath, directory),
    id: args.word(2),
    now: systemClock.now(),
    isDry: args.flag('dry-run'),
  }
}

async function inQueue(context: QueueContext): Promise<number> {
  const { directory } = context
  const request = await requestOf(context)
  const queue = queueOf(context)
  const { makeQueue, openQueue, importForeign } = await import('./queue/directory.js')
  const store = request.isDry ? await openQueue(queue) : await makeQueue(queue)
  try {
    if (store !== undefined && !request.isDry) await importForeign(store)
    const { enqueueEntry } = await import('./enqueue-entry.js')
    return tell(context, await enqueueEntry(store, { ...request, queuePath: resolve(directory, queue.path) }))
  } finally {
    await store?.close()
  }
}

async function inStore(context: Context): Promise<number> {
  const request = await requestOf(context)
  const { enqueueEntry } = await import('./enqueue-entry.js')
  const { withApp } = await import('../../cli/host/with-app.js')
  return await withApp(context, async (app) =>
    tell(context, await enqueueEntry(await app.store(), { ...request, now: app.now() })),
  )
}

function tell({ args, out }: Context, { entry, outcome }: EnqueuedEntry): number {
  const isDry = args.flag('dry-run')
  const { jobId, runId, dueAt } = entry
  if (args.flag('json')) {
    out.json({ job_id: jobId, run_id: runId, scheduled_for: formatInstant(dueAt), outcome, dry_run: isDry })
  } else if (outcome === 'already_enqueued') out.say(`${runId} was enqueued before; nothing was changed`)
  else out.say(`${isDry ? 'would enqueue' : 'enqueued'} ${runId}, due ${formatInstant(dueAt)}`)
  return exitCodes.ok
}

function view(path: string, { timezone, entries }: CheckedPlan): unknown {
  return {
    path,
    timezone,
    entries: entries.map((entry) => ({
      publishAt: entry.publishAt,
      dueAt: formatInstant(entry.dueAt),
      local: entry.local,
      standing: entry.standing,
      pipelinePath: entry.pipelinePath,
      jobId: entry.jobId,
      runId: entry.runId,
      runIdBase: entry.runIdBase,
      params: entry.params ?? null,
    })),
  }
}

function print({ out }: Context, { timezone, entries }: CheckedPlan): void {
  const { dim, yellow } = out.colors
  const paints = { future: (text: string) => text, due: yellow, missed: dim }
  if (entries.length > 0) {
    printTable(out, entries, [
      {
        title: timezone,
        text: ({ local }) => `${local.slice(0, 10)} ${local.slice(11, 19)} ${local.slice(19)}`,
      },
      { title: 'UTC', text: ({ dueAt }) => formatInstant(dueAt) },
      { title: '', text: ({ standing }) => standing, paint: ({ standing }) => paints[standing] },
      { title: 'JOB ID', text: ({ jobId }) => jobId },
      { title: 'PIPELINE', text: ({ pipelinePath }) => pipelinePath, shortest: 8 },
    ])
    out.line()
  }
  out.say(`${summaryOf(entries)}; no fault`)
}

function summaryOf(entries: CheckedPlan['entries']): string {
  const words = entries.length === 1 ? '1 entry' : `${entries.length} entries`
  const parts = (['future', 'due', 'missed'] as const).flatMap((standing) => {
    const found = entries.filter((entry) => entry.standing === standing).length
    return found === 0 ? [] : [`${found} ${standing}`]
  })
  return parts.length === 0 ? words : `${words} (${parts.join(', ')})`
}
