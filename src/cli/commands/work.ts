import { resolve } from 'node:path'
import type { QueueItem } from '../../app/plans/queue-list.js'
import type { WorkerSummary } from '../../app/plans/summaries.js'
import { parseDuration } from '../../app/durations.js'
import { formatInstant, systemClock } from '../../app/times.js'
import { type Command, type Context, exitCodes, jsonOption } from '../command.js'
import { untilSignal } from '../follow.js'
import {
  dryRunOption,
  oneShot,
  outputDirOption,
  queueDirOf,
  queueDirOption,
  recordSummary,
} from '../one-shot.js'
import { roughly } from '../time-text.js'
import { usageError } from '../usage-error.js'

/** `rota work`: performs one run of a queue. */
export const work: Command = {
  name: 'work',
  about:
    'Takes the next due run of a queue, performs its pipeline and moves it to done or failed; one per call, for cron. Any number may run at once: none takes a run twice, and a run whose worker died is taken back when its lease ends. Off unless WORKER_ENABLED is on; PIPELINE_ENABLED off means that nothing is read or written. A summary is kept under the output directory. Ends with 1 where the run failed.',
  arguments: [],
  options: [
    queueDirOption,
    {
      name: 'ahead',
      value: 'minutes',
      help: 'take what is due this far ahead, too; default 0',
      whole: { min: 0, max: 527_040 },
    },
    {
      name: 'lease',
      value: 'duration',
      help: 'how long it may be silent before its run is taken back; default 30s',
    },
    outputDirOption,
    dryRunOption,
    jsonOption,
  ],
  examples: [
    { line: 'WORKER_ENABLED=1 rota work', meaning: 'as cron calls it' },
    { line: 'rota work --dry-run', meaning: 'which run it would take' },
  ],
  run: (context) =>
    oneShot(context, (switches) =>
      untilSignal((signal) => workOnce(context, switches.worker === true, signal)),
    ),
}

async function workOnce(context: Context, isOn: boolean, signal: AbortSignal): Promise<number> {
  const { args, out, directory } = context
  const isDry = args.flag('dry-run')
  const taken = isDry ? await look(context) : isOn ? await take(context, signal) : disabled
  const summary = summaryOf(taken, isDry)
  const { writeWorkerSummary } = await import('../../app/plans/summaries.js')
  const outputDirectory = resolve(directory, args.text('output-dir') ?? 'output')
  recordSummary(context, () => writeWorkerSummary(outputDirectory, summary))
  if (args.flag('json')) out.json(summary)
  else print(context, summary)
  return summary.decision === 'failed' ? exitCodes.failed : exitCodes.ok
}

/** What a call came to, before it is written down. */
interface Taken extends Pick<WorkerSummary, 'decision' | 'error'> {
  readonly item?: QueueItem
  readonly durationMs?: number
}

const disabled: Taken = {
  decision: 'skipped',
  error: { code: 'worker_disabled', message: 'WORKER_ENABLED is off' },
}

const empty: Taken = { decision: 'skipped', error: { code: 'queue_empty', message: 'nothing is due' } }

/** The run that would be taken. */
async function look(context: Context): Promise<Taken> {
  const { directory } = context
  const path = queueDirOf(context)
  const { openQueue } = await import('../../app/plans/queue-directory.js')
  const { listQueue, nextOf } = await import('../../app/plans/queue-list.js')
  const store = await openQueue(path, directory)
  try {
    const untilAt = systemClock.now() + aheadOf(context)
    const item = nextOf(await listQueue(store, { path, directory }), untilAt)
    return item === undefined ? empty : { decision: 'skipped', error: null, item }
  } finally {
    await store?.close()
  }
}

const leases = { minMs: 1000, maxMs: 86_400_000, allowed: '1s to 1d' }

function leaseOf({ args }: Context): number {
  const text = args.text('lease') ?? '30s'
  const leaseMs = parseDuration(text)
  if (leaseMs >= leases.minMs && leaseMs <= leases.maxMs) return leaseMs
  const fault = { path: '--lease', message: `${text} is not allowed`, allowed: leases.allowed }
  throw usageError([fault], '`rota work --help` shows examples')
}

function aheadOf({ args }: Context): number {
  return (args.whole('ahead') ?? 0) * 60_000
}

async function take(context: Context, signal: AbortSignal): Promise<Taken> {
  const { directory, environment, args, out } = context
  const { makeQueue } = await import('../../app/plans/queue-directory.js')
  const { workQueue } = await import('../../app/plans/work-queue.js')
  const { itemOf, summaryErrorOf } = await import('../../app/plans/queue-list.js')
  const leaseMs = leaseOf(context)
  const store = await makeQueue(queueDirOf(context), directory)
  const onLine = (text: string): void => (args.flag('json') ? undefined : out.line(`  ${text}`))
  try {
    const worked = await workQueue(store, {
      directory,
      environment,
      aheadMs: aheadOf(context),
      leaseMs,
      signal,
      onLine,
    })
    if (worked === undefined) return empty
    const { run, result, durationMs } = worked
    const told = { item: itemOf(run), durationMs }
    if (result === 'done') return { decision: 'done', error: null, ...told }
    if (result === 'handed-back') return { decision: 'skipped', error: null, ...told }
    const error = run.error ?? { code: 'LOST', message: `the run was ${result}` }
    return { decision: 'failed', error: summaryErrorOf(error), ...told }
  } finally {
    await store.close()
  }
}

function summaryOf(taken: Taken, isDry: boolean): WorkerSummary {
  const { jobId = 'none', runId = '', pipelinePath = '', attempts = 0 } = taken.item ?? {}
  return {
    schema_version: 'v1',
    engine: 'worker',
    checked_at: formatInstant(systemClock.now()),
    job_id: jobId,
    run_id: runId,
    pipeline_path: pipelinePath,
    decision: taken.decision,
    error: taken.error,
    dry_run: isDry,
    attempts,
    duration_ms: taken.durationMs ?? 0,
  }
}

function print({ out }: Context, summary: WorkerSummary): void {
  const { job_id: id, run_id: run, decision, error } = summary
  const took = roughly(summary.duration_ms)
  if (id === 'none') {
    if (error?.code === 'worker_disabled') out.note(`${error.message}: nothing was done`)
    else out.line('nothing is due')
  } else if (summary.dry_run) out.line(`would take ${run}`)
  else if (decision === 'done') out.line(`${run} is done, in ${took}`)
  else if (decision === 'skipped') out.line(`${run} was handed back`)
  else out.line(`${run} failed after ${took}: ${error?.message ?? ''} [${error?.code ?? ''}]`)
}
