import { type Context, type Ended, exitCodes, zoneOption } from '../../cli/framework/command.js'
import {
  hasRunFilter,
  runConditionsOf,
  runFilterOptions,
  runFilterText,
} from '../../cli/framework/run-filter.js'
import type { Option } from '../../cli/framework/syntax.js'
import { hereOf } from '../../cli/framework/times-of.js'
import { untilSignal } from '../../cli/framework/until-signal.js'
import { count } from '../../cli/framework/print/words.js'
import type { CommandExtension } from '../command-extension.js'
import type { BulkApp, StartedBulk } from './api.js'
import { mostItems, skipReasons, type BulkAction, type SkipReason } from './bulk.js'
import { bulkView, planView, progressText } from './views.js'

const options: readonly Option[] = [
  ...runFilterOptions,
  {
    name: 'limit',
    short: 'n',
    value: 'n',
    help: `at most this many runs; default: ${mostItems}`,
    whole: [1, mostItems],
  },
  { name: 'yes', short: 'y', help: 'do not ask; without a terminal, needed for more than one run' },
  zoneOption,
]

/** `rota retry` with a filter. */
export const retryMany = extension('retry', {
  'rota retry --job mail --since yesterday --yes': 'all that failed',
})

/** `rota cancel` with a filter. */
export const cancelMany = extension('cancel', {
  'rota cancel --queue mail --dry-run': 'what would be cancelled',
})

/** `rota run` with a filter. */
export const runMany = extension('run', {
  'rota run --job report --due yesterday --yes': 'run all of yesterday’s again',
})

function extension(
  action: BulkAction,
  examples: Readonly<Record<string, string>>,
): CommandExtension<BulkApp> {
  return {
    options,
    examples,
    about: `With options that select runs, the command applies to all of them (at most ${mostItems}); \`rota bulk\` shows the progress.`,
    isMeant: hasRunFilter,
    run: (app, context) => perform(action, app, context),
  }
}

async function perform(action: BulkAction, app: BulkApp, context: Context<BulkApp>): Ended {
  const { args, out } = context
  // The error names the options.
  await runConditionsOf(context, action)
  const request = {
    action,
    filter: runFilterText(context),
    zone: hereOf(context).zone,
    limit: args.whole('limit'),
    reason: args.text('reason'),
  }
  const isDry = args.flag('dry-run')
  const plan = await app.bulk.start({ ...request, dryRun: true })
  if (isDry) {
    out.show(planView(plan), planText(action, plan))
    return exitCodes.ok
  }
  if (plan.count > 1 && !args.flag('yes') && !(await context.isConfirmed(`${planText(action, plan)}?`))) {
    out.note(`would ${planText(action, plan)}; --yes does it`)
    return exitCodes.refused
  }
  const { bulk } = await app.bulk.start(request)
  if (bulk === undefined) return exitCodes.internal
  return await untilSignal(async (signal) => {
    const ended = await app.bulk.perform(bulk.id, {
      signal,
      onProgress: (one) => out.progress(progressText(one)),
    })
    out.show(bulkView(ended), `${progressText(ended)} (bulk ${ended.id}, ${ended.state})`)
    return ended.state !== 'done' ? exitCodes.failed : exitCodes.ok
  })
}

function planText(action: BulkAction, { count: runs, isCapped, skipped, examples }: StartedBulk): string {
  const left = Object.entries(skipped).map(
    ([reason, n]) => `skip ${n}: ${skipReasons[reason as SkipReason] ?? reason}`,
  )
  const [newest] = examples
  const example = newest === undefined ? [] : [`the newest is ${newest.id} of ${newest.job}`]
  const capped = isCapped ? [`there are more than the limit`] : []
  return [`${action} ${count(runs, 'run')}`, ...example, ...left, ...capped].join('; ')
}
