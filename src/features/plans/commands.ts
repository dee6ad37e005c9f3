import { resolve } from 'node:path'
import {
  type Command,
  configOption,
  reasonOption,
  type Ended,
  jsonOption,
  storeOption,
} from '../../cli/framework/command.js'
import { authorOf } from '../../cli/framework/author-of.js'
import type { Output } from '../../cli/framework/print/output.js'
import { printTable } from '../../cli/framework/print/table.js'
import type { Argument } from '../../cli/framework/syntax.js'
import { usageError } from '../../cli/framework/usage-error.js'
import { changeRecord } from '../../engine/audit-change.js'
import type { Store } from '../../store/port.js'
import { systemClock } from '../../time/clock.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import type { ProgramParts } from '../feature.js'
import type { CheckedPlan } from './check.js'
import type { EnqueuedEntry, EntryRequest } from './enqueue-entry.js'
import { oneShot, queueDirOption, queueOf, type QueueContext } from './queue/one-shot.js'

const planFile: Argument = { name: 'file', help: 'a plan in YAML' }

/** What `rota plan enqueue` uses of an app. */
export interface StoreApp {
  store(): Promise<Store>
  now(): Instant
}

type PlanContext = QueueContext<StoreApp>

/** `rota plan`: checks a plan file, or enqueues one of its entries. */
export const plan = (program: ProgramParts): Command<StoreApp> => ({
  name: 'plan',
  about: 'A plan is a YAML file with the times at which pipelines are due.',
  examples: {
    'rota plan check schedule_plan.yaml': 'check it before it is used',
    'rota plan enqueue schedule_plan.yaml 96b0037ff184': 'an entry that was missed',
  },
  subcommands: [check, enqueueWith(program)],
})

const check: Command<StoreApp> = {
  name: 'check',
  summary: 'check a plan file and list its entries',
  about:
    'Reads a plan file and the pipeline files of its future entries, and lists the entries: when each is due, in the plan’s zone and in UTC, its id, and whether it is in the future, due (within the last 24 hours) or missed. Nothing is written. All faults are listed at once, with line and column.',
  arguments: [planFile],
  options: [jsonOption],
  examples: {
    'rota plan check schedule_plan.yaml': 'check it before it is used',
    'rota plan check schedule_plan.yaml --json': 'with run ids and params',
  },
  run: async ({ args, out, directory }) => {
    const path = args.word(0)
    const { checkPlan, entryView } = await import('./check.js')
    const { timezone, entries } = await checkPlan(path, { directory, now: systemClock.now() })
    out.show({ path, timezone, entries: entries.map(entryView) }, () => print(out, { timezone, entries }))
  },
}

const enqueueWith = (program: ProgramParts): Command<StoreApp> => ({
  name: 'enqueue',
  summary: 'enqueue one entry, also a missed one',
  about:
    'Enqueues one entry of a plan, also one that was missed: in the queue directory of `rota schedule`, or with --store or --config in the store of an engine. An entry that was enqueued before is not enqueued again.',
  arguments: [planFile, { name: 'id', help: 'the job_id or run_id of the entry' }],
  options: [
    queueDirOption,
    { ...storeOption, help: 'the store of an engine, instead of a queue directory' },
    { ...configOption, help: 'the config that names that store' },
    { name: 'dry-run', help: 'only show what would be done' },
    { ...reasonOption, help: 'why; with a store, `rota history` shows it' },
    jsonOption,
  ],
  examples: {
    'rota plan enqueue schedule_plan.yaml 96b0037ff184': 'an entry that was missed',
  },
  run: async (context) => {
    const { args } = context
    if (args.flag('queue-dir') && (args.flag('store') || args.flag('config'))) {
      const message = 'cannot be combined with --store or --config'
      throw usageError([{ path: '--queue-dir', message }], 'see `rota plan enqueue --help`')
    }
    return await enqueue({ ...context, program })
  },
})

async function enqueue(context: PlanContext): Ended {
  return await oneShot(context, async (switches) => {
    const { args, out } = context
    if (switches.scheduler === false) return out.note('SCHEDULER_ENABLED is off: nothing was enqueued')
    return args.flag('store') || args.flag('config') ? await inStore(context) : await inQueue(context)
  })
}

/** The request, without the queue or store. */
async function requestOf({ args, directory }: PlanContext): Promise<EntryRequest> {
  const planPath = args.word(0)
  const { loadPlan } = await import('./file.js')
  const { planSourceName } = await import('./source.js')
  const { entryOf } = await import('./enqueue-entry.js')
  const plan = await loadPlan(resolve(directory, planPath))
  // Checked before a queue is created.
  entryOf({ plan, planPath, id: args.word(1) })
  return {
    plan,
    planPath,
    source: planSourceName(planPath, directory),
    id: args.word(1),
    now: systemClock.now(),
    isDry: args.flag('dry-run'),
  }
}

async function inQueue(context: PlanContext): Ended {
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

async function inStore(context: PlanContext): Ended {
  const request = await requestOf(context)
  const { enqueueEntry } = await import('./enqueue-entry.js')
  return await context.withApp(async (app) => {
    const now = app.now()
    const { id, planPath } = request
    const audit = { action: 'plan.enqueue', target: `plan:${planPath}`, subjects: [], after: { entry: id } }
    const record = changeRecord([audit], { options: {}, author: authorOf(context), now })
    const store = (await app.store()).audited(record)
    return tell(context, await enqueueEntry(store, { ...request, now }))
  })
}

function tell({ args, out }: PlanContext, { entry, outcome }: EnqueuedEntry): void {
  const dryRun = args.flag('dry-run')
  const { jobId, runId, dueAt } = entry
  const done = `${dryRun ? 'would enqueue' : 'enqueued'} ${runId}, due ${formatInstant(dueAt)}`
  const text = outcome === 'already_enqueued' ? `${runId} was enqueued before; nothing was changed` : done
  out.show({ jobId, runId, dueAt, outcome, dryRun }, text)
}

function print(out: Output, { timezone, entries }: CheckedPlan): void {
  if (entries.length > 0) {
    printTable(out, entries, [
      {
        title: timezone,
        text: ({ local }) => `${local.slice(0, 10)} ${local.slice(11, 19)} ${local.slice(19)}`,
      },
      { title: 'UTC', text: ({ dueAt }) => formatInstant(dueAt) },
      { key: 'standing', title: '', colors: { due: 'yellow', missed: 'dim' } },
      'jobId',
      { key: 'pipelinePath', title: 'PIPELINE', shortest: 8 },
    ])
    out.line()
  }
  out.say(`${summaryOf(entries)}; no faults`)
}

function summaryOf(entries: CheckedPlan['entries']): string {
  const words = entries.length === 1 ? '1 entry' : `${entries.length} entries`
  const parts = (['future', 'due', 'missed'] as const).flatMap((standing) => {
    const found = entries.filter((entry) => entry.standing === standing).length
    return found === 0 ? [] : [`${found} ${standing}`]
  })
  return parts.length === 0 ? words : `${words} (${parts.join(', ')})`
}
