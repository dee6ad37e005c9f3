import type { ProgramParts } from '../../feature.js'
import { resolve } from 'node:path'
import type { NoRun, QueueAt, QueueFile } from './files.js'
import type { QueueItem } from './list.js'
import type { WorkerSummary } from '../pass/summaries.js'
import type { Worked, workQueue } from './work.js'
import { formatInstant } from '../../../time/instant.js'
import { systemClock } from '../../../time/clock.js'
import {
  configOption,
  type Command,
  type Context,
  exitCodes,
  jsonOption,
} from '../../../cli/framework/command.js'
import { untilSignal } from '../../../cli/framework/until-signal.js'
import {
  acceptClockOption,
  clockOf,
  dryRunOption,
  oneShot,
  outputDirOption,
  queueDirOption,
  queueOf,
  recordSummary,
  type QueueContext,
} from './one-shot.js'
import { count } from '../../../cli/framework/print/words.js'
import { roughly } from '../../../cli/framework/print/time-text.js'
import { durationOf } from '../../../cli/framework/times-of.js'
import { usageError } from '../../../cli/framework/usage-error.js'
import { WorkGuard } from './work-guard.js'

/** `rota work`: performs one run of a queue. */
export const work = (program: ProgramParts): Command => ({
  name: 'work',
  about:
    'Claims the next due run of a queue, performs its pipeline and moves it to done or failed; one run per call, for cron. Any number of workers may run at once: no run is performed twice at the same time, and the run of a dead worker is reclaimed when its lease expires. It does nothing unless WORKER_ENABLED is on; with PIPELINE_ENABLED off, nothing is read or written. A file in pending that is not a run is moved to failed with the reason. A summary is written to the output directory. Exit code 1 if the run failed, or a file was not a run.',
  options: [
    queueDirOption,
    {
      name: 'ahead',
      value: 'minutes',
      help: 'also claim what is due within this time; default: 0',
      whole: [0, 527_040],
    },
    {
      name: 'lease',
      value: 'duration',
      help: 'how long a dead worker keeps its run; default: 30s',
    },
    outputDirOption,
    {
      ...configOption,
      help: 'the config whose steps pipelines use; default: rota.config.* here or above',
    },
    acceptClockOption,
    dryRunOption,
    jsonOption,
  ],
  examples: {
    'WORKER_ENABLED=1 rota work': 'as cron calls it',
    'rota work --dry-run': 'which run it would claim',
  },
  run: (given) =>
    oneShot(given, async (switches) => {
      const context = { ...given, program }
      const guard = new WorkGuard(context)
      try {
        const isOn = switches.worker === true
        return await untilSignal(
          (signal) => workOnce(context, isOn, { guard, signal }),
          () => guard.end(),
        )
      } finally {
        guard.end()
      }
    }),
})

/** Why a call ends early. */
interface Ends {
  readonly guard: WorkGuard
  readonly signal: AbortSignal
}

async function workOnce(context: QueueContext, isOn: boolean, ends: Ends): Promise<number> {
  const { args, out } = context
  const isDry = args.flag('dry-run')
  const all = isDry ? await look(context) : isOn ? await take(context, ends) : [disabled]
  const summaries = all.map((taken) => summaryOf(taken, isDry))
  await record(
    context,
    summaries.filter((_, index) => all[index]?.isLost !== true),
  )
  if (out.isJson) for (const summary of summaries.slice(0, 1)) out.json(summary)
  else for (const [index, summary] of summaries.entries()) print(context, summary, all[index]?.isLost)
  if (ends.guard.failing.aborted) return exitCodes.internal
  return summaries.some(({ decision }) => decision === 'failed') ? exitCodes.failed : exitCodes.ok
}

async function record(context: QueueContext, summaries: readonly WorkerSummary[]): Promise<void> {
  const { args, directory } = context
  const { writeWorkerSummary } = await import('../pass/summaries.js')
  const outputDirectory = resolve(directory, args.text('output-dir') ?? 'output')
  for (const summary of summaries)
    await recordSummary(context, () => writeWorkerSummary(outputDirectory, summary))
}

/** The result of a call, before the summary is written. */
interface Taken extends Pick<WorkerSummary, 'decision' | 'error'> {
  readonly item?: QueueItem
  readonly durationMs?: number
  /** Another worker has taken over the run, and writes its summary. */
  readonly isLost?: boolean
}

const disabled: Taken = {
  decision: 'skipped',
  error: { code: 'worker_disabled', message: 'WORKER_ENABLED is off' },
}

/** What a dry run would claim. */
async function look(context: QueueContext): Promise<readonly Taken[]> {
  const queue = queueOf(context)
  const { openQueue } = await import('./directory.js')
  const { nextRun } = await import('./next-run.js')
  await warnOfStrays(context, queue)
  const store = await openQueue(queue)
  try {
    const found = await nextRun(store, queue, { now: systemClock.now(), aheadMs: aheadOf(context) })
    if (found.kind === 'malformed') return await noRuns(found.files, 'skipped')
    if (found.kind === 'nothing') return [{ decision: 'skipped', error: found.reason }]
    return [{ decision: 'skipped', error: null, item: found.item }]
  } finally {
    await store?.close()
  }
}

async function noRuns(files: readonly NoRun[], decision: 'failed' | 'skipped'): Promise<readonly Taken[]> {
  const { noRunItem } = await import('./list.js')
  return files.map((file) => ({
    decision,
    error: { code: 'job_invalid', message: `${file.path}: ${file.fault}` },
    item: noRunItem(file),
  }))
}

/** Files that are not runs are ignored with a warning. */
async function warnOfStrays({ out }: Context, queue: QueueAt): Promise<void> {
  const { queueFiles } = await import('./files.js')
  const files = queueFiles(queue, systemClock.now(), ['pending']).filter(isStray)
  for (const { path, fault } of files.slice(0, mostWarnings)) {
    out.note(`warning: ${path} ${fault.replace(/^it /, '')}; it is ignored`)
  }
  if (files.length > mostWarnings)
    out.note(`warning: ${count(files.length - mostWarnings, 'more file')} ignored`)
}

const mostWarnings = 3

function isStray(file: QueueFile): file is NoRun {
  return file.kind === 'stray'
}

const leases = { minMs: 1000, maxMs: 86_400_000, allowed: '1s to 1d' }

function leaseOf(context: QueueContext): number {
  const { args } = context
  const leaseMs = durationOf(context, 'lease', '30s')
  if (leaseMs >= leases.minMs && leaseMs <= leases.maxMs) return leaseMs
  const fault = { path: '--lease', message: `${args.text('lease')} is not allowed`, allowed: leases.allowed }
  throw usageError([fault], 'see `rota work --help`')
}

function aheadOf({ args }: Context): number {
  return (args.whole('ahead') ?? 0) * 60_000
}

async function take(context: QueueContext, ends: Ends): Promise<readonly Taken[]> {
  const { directory, environment, out } = context
  const { makeQueue } = await import('./directory.js')
  const { workQueue } = await import('./work.js')
  const leaseMs = leaseOf(context)
  const aheadMs = aheadOf(context)
  const queue = queueOf(context)
  const steps = await stepsOf(context)
  await warnOfStrays(context, queue)
  const store = await makeQueue(queue)
  const onLine = (text: string): void => (out.isJson ? undefined : out.line(`  ${text}`))
  try {
    const { tracer, failing, onRun, onTrouble } = ends.guard
    const signal = AbortSignal.any([ends.signal, failing])
    const heard = { onLine, onRun, onTrouble }
    const guard = await clockOf(context, store, signal)
    const extensions = await context.program.handlerExtensions()
    const given = { environment, aheadMs, leaseMs, steps, extensions }
    const options = { queue, directory, ...given, signal, tracer, guard, ...heard }
    const worked = await workQueue(store, options)
    if (worked?.kind === 'run') return [await takenOf(worked.worked)]
    if (worked?.kind === 'moved') return await noRuns(worked.files, 'failed')
    const { idleReason } = await import('./next-run.js')
    const reason = await idleReason(store, queue, { now: guard.now(), aheadMs })
    return [{ decision: 'skipped', error: reason }]
  } finally {
    await store.close()
  }
}

type Steps = Parameters<typeof workQueue>[1]['steps']

/** The functions of pipelines: the config of `--config` is read before anything is claimed, the default config when a step needs it. */
async function stepsOf(context: QueueContext): Promise<Steps> {
  const load: Steps = async () => {
    const path = await context.configPath()
    return path === undefined ? new Map() : await context.program.pipelineSteps(path)
  }
  if (!context.args.flag(configOption.name)) return load
  const steps = await load()
  return async () => steps
}

type WorkedRun = Extract<Worked, { kind: 'run' }>['worked']

async function takenOf({ run, end, durationMs }: WorkedRun): Promise<Taken> {
  const { itemOf, summaryErrorOf } = await import('./list.js')
  const told = { item: itemOf(run), durationMs }
  if (end === 'done') return { decision: 'done', error: null, ...told }
  if (end === 'released') return { decision: 'skipped', error: null, ...told }
  if (end === 'lost') return { decision: 'skipped', error: null, isLost: true, ...told }
  const error = run.error ?? { code: 'LOST', message: `the run was ${end}` }
  return { decision: 'failed', error: summaryErrorOf(error), ...told }
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

function print({ out }: Context, summary: WorkerSummary, isLost = false): void {
  const { job_id: id, run_id: run, decision, error, dry_run: isDry } = summary
  const took = roughly(summary.duration_ms)
  if (error?.code === 'worker_disabled') out.note(`${error.message}: nothing was done`)
  else if (id === 'none') out.say(error?.message ?? '')
  else if (run === '')
    out.say(`${error?.message ?? ''}; ${isDry ? 'it would be' : 'it was'} moved to failed/`)
  else if (isDry) out.say(`would claim ${run}`)
  else if (decision === 'done') out.say(`${run} is done, in ${took}`)
  else if (isLost) out.say(`${run} lost its lease after ${took}; another worker takes it over`)
  else if (decision === 'skipped') out.say(`${run} was released`)
  else out.say(`${run} failed after ${took}: ${error?.message ?? ''} [${error?.code ?? ''}]`)
}
