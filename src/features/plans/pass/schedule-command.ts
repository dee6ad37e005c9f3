import type { ProgramParts } from '../../feature.js'
import { resolve } from 'node:path'
import type { Pass, PassRequest } from './schedule-pass.js'
import type { ScheduleSummary } from './summaries.js'
import { systemClock } from '../../../time/clock.js'
import { type Command, type Context, jsonOption } from '../../../cli/framework/command.js'
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
} from '../queue/one-shot.js'
import { namedFile } from '../../../formats/named-file.js'
import { durationOf } from '../../../cli/framework/times-of.js'

/** `rota schedule`: one pass over a plan. */
export const schedule = (program: ProgramParts): Command => ({
  name: 'schedule',
  about:
    'Enqueues the entries of a plan that are due from now to the end of the window, or became due since the previous pass, each once; for cron. It does nothing unless SCHEDULER_ENABLED is on; with PIPELINE_ENABLED off, nothing is read or written. A summary of the day is written to the output directory.',
  options: [
    { name: 'plan', value: 'file', help: 'the plan', completes: 'file', isRequired: true },
    {
      name: 'window-minutes',
      value: 'n',
      help: 'how far ahead to enqueue; default: 10',
      whole: [0, 527_040],
    },
    {
      name: 'look-back',
      value: 'duration',
      help: 'how far back to enqueue the entries of missed passes; default: 24h, but 0 in the first pass of a plan',
    },
    queueDirOption,
    outputDirOption,
    acceptClockOption,
    dryRunOption,
    jsonOption,
  ],
  examples: {
    'SCHEDULER_ENABLED=1 rota schedule --plan plan.yaml': 'as cron calls it',
    'rota schedule --plan plan.yaml --dry-run': 'what it would enqueue',
  },
  run: (given) =>
    oneShot(given, async (switches) => {
      const context = { ...given, program }
      const planPath = context.args.text('plan') ?? ''
      namedFile(context.directory, { holder: '--plan', path: planPath, code: 'PLAN_INVALID' })
      const { loadPlan } = await import('../file.js')
      const plan = await loadPlan(resolve(context.directory, planPath))
      const summary = await pass(context, { planPath, plan, isOn: switches.scheduler === true })
      context.out.show(summary, () => print(context, summary))
    }),
})

type PlanHere = {
  readonly planPath: string
  readonly plan: PassRequest['plan']
  readonly isOn: boolean
}

async function pass(context: QueueContext, { planPath, plan, isOn }: PlanHere): Promise<ScheduleSummary> {
  const { args, directory } = context
  const { planSourceName, realFile } = await import('../source.js')
  const { scheduleSummary, writeScheduleSummary } = await import('./summaries.js')
  const asked: Asked = {
    plan,
    source: planSourceName(planPath, directory),
    windowMs: (args.whole('window-minutes') ?? 10) * 60_000,
    lookBackMs: durationOf(context, 'look-back', '24h'),
    looksBackFirst: args.flag('look-back'),
    planFile: realFile(resolve(directory, planPath)),
    isDry: args.flag('dry-run'),
  }
  const { made: bare, now } = await makePass(context, asked, isOn)
  const made = await withHints(bare, context)
  const request = { ...asked, now }
  const about = { ...request, planPath, checkedAt: systemClock.now() }
  const summary = scheduleSummary(made, about)
  const outputDirectory = resolve(directory, args.text('output-dir') ?? 'output')
  await recordSummary(context, () => writeScheduleSummary(outputDirectory, summary, request))
  return summary
}

/** Prints for each missed entry the command that enqueues it. */
async function withHints(made: Pass, { args }: Context): Promise<Pass> {
  if (!made.skipped.some(({ code }) => code === 'entry_missed')) return made
  // Most passes miss nothing.
  const { shellWord } = await import('../../../cli/framework/print/words.js')
  const queue = args.text(queueDirOption.name)
  const rest = queue === undefined ? '' : ` --queue-dir ${shellWord(queue)}`
  const skipped = made.skipped.map((one) => {
    if (one.code !== 'entry_missed') return one
    const command = `rota plan enqueue ${shellWord(args.text('plan') ?? '')} ${one.entry.jobId}${rest}`
    return { ...one, message: `${one.message}; \`${command}\` enqueues it` }
  })
  return { ...made, skipped }
}

type Asked = Omit<PassRequest, 'now'>

interface MadePass {
  readonly made: Pass
  readonly now: PassRequest['now']
}

/** Plans have a precision of seconds: an entry that is due this second is not late. */
function thisSecond(): PassRequest['now'] {
  return Math.floor(systemClock.now() / 1000) * 1000
}

async function makePass(context: QueueContext, request: Asked, isOn: boolean): Promise<MadePass> {
  const { directory } = context
  const disabled = (made: Pass): MadePass => ({ made, now: thisSecond() })
  const { disabledPass, schedulePass } = await import('./schedule-pass.js')
  if (!isOn && !request.isDry) return disabled(disabledPass(request.plan, 'SCHEDULER_ENABLED is off'))
  const { makeQueue, openQueue, planningHold, importForeign } = await import('../queue/directory.js')
  const queue = queueOf(context)
  const store = request.isDry ? await openQueue(queue) : await makeQueue(queue)
  try {
    const isChanging = store !== undefined && !request.isDry
    const hold = isChanging ? await planningHold(store) : undefined
    if (hold !== undefined) return disabled(disabledPass(request.plan, hold))
    if (isChanging) await clockOf(context, store, new AbortController().signal)
    if (isChanging) await importForeign(store)
    const now = thisSecond()
    const made = await schedulePass(store, { ...request, now, queuePath: resolve(directory, queue.path) })
    return { made, now }
  } finally {
    await store?.close()
  }
}

function print({ out }: Context, summary: ScheduleSummary): void {
  const { enqueued_job_ids: ids, skipped_entries: skipped, dry_run: isDry } = summary
  const off = skipped.find((entry) => entry.code === 'scheduler_disabled')
  if (off !== undefined) {
    out.note(`${off.message}: nothing was enqueued`)
    return
  }
  for (const id of ids) out.line(`${isDry ? 'would enqueue' : 'enqueued'} ${id}`)
  for (const entry of skipped.filter((one) => one.code === 'entry_missed')) {
    out.say(`missed ${entry.run_id}: ${entry.message}`)
  }
  const words = ids.length === 1 ? '1 entry' : `${ids.length} entries`
  out.say(`${words} ${isDry ? 'to enqueue' : 'enqueued'} at ${summary.now}, ${skipped.length} skipped`)
}
