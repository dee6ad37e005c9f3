import type { AssetsApp } from '../grid.js'
import {
  type Command,
  type Context,
  type Ended,
  onApp,
  changeOptions,
  zoneOption,
} from '../../../cli/framework/command.js'
import type { Output } from '../../../cli/framework/print/output.js'
import { count } from '../../../cli/framework/print/words.js'
import { watchBackfill } from '../../../cli/framework/watch-backfill.js'
import { usageError } from '../../../cli/framework/usage-error.js'
import type { Fault } from '../../../kernel/definition/errors.js'
import { dimensionsOf, isTime } from '../../../kernel/partition/spec.js'
import type { Backfill, BackfillOrder } from '../../../kernel/backfill/backfill.js'
import { backfillOrders } from '../../../kernel/backfill/backfill.js'
import { backfillView } from '../../../wire/backfills.js'
import type { BackfillOptions } from './backfills.js'
import { backfillChoices, labelsByReason } from './choice.js'
import type { BackfillChoice, BackfillPlan } from './choice.js'

const hint = 'see `rota asset backfill --help`'

/** `rota asset backfill`: shows what it would produce, and with `--yes` starts it. */
export const backfill: Command<AssetsApp> = {
  name: 'backfill',
  summary: 'make the partitions of a range',
  about:
    'Shows which partitions of a range it would produce, which it would skip, and why; with --yes it starts. A backfill changes no schedule. `rota backfill` lists and cancels backfills.',
  arguments: [{ name: 'asset', help: 'the asset', completes: 'job' }],
  options: [
    { name: 'partition', value: 'label', help: 'one partition', isList: true },
    { name: 'from', value: 'label', help: 'the first partition' },
    { name: 'to', value: 'label', help: 'the last partition, included' },
    { name: 'only', value: 'state', help: 'which of them; default: missing', choices: backfillChoices },
    {
      name: 'order',
      value: 'order',
      help: 'default: oldest-first',
      choices: backfillOrders,
    },
    { name: 'concurrency', value: 'count', help: 'how many at once', whole: [1, 100_000] },
    { name: 'pace', value: 'pace', help: 'how many may begin in a period, such as 10/1m' },
    { name: 'limit', value: 'count', help: 'how many at most', whole: [1, 100_000] },
    { name: 'yes', help: 'start it' },
    { name: 'wait', help: 'show the progress until it ends' },
    zoneOption,
    ...changeOptions,
  ],
  examples: {
    'rota asset backfill raw_events --from 2025-01-01 --to 2025-01-31': 'what would be made',
    'rota asset backfill raw_events --from 2025-01-01 --to 2025-01-31 --only failed --concurrency 2 --yes':
      'make it, two at once',
  },
  run: onApp(act),
}

async function act(app: AssetsApp, context: Context<AssetsApp>): Ended {
  const { args, out } = context
  const asset = args.word(0)
  const dryRun = args.flag('dry-run')
  const options = optionsOf(context)
  if (options.partitions === undefined) await refuseOpenRange(app, asset, options)
  out.progress(`looking at the partitions of ${asset}`)
  if (!args.flag('yes') || dryRun)
    return showPlan(out, asset, await app.assets.backfill(asset, { ...options, dryRun: true }))
  const { backfill: begun } = await app.assets.backfill(asset, options)
  return await started(context, app, begun)
}

function optionsOf({ args }: Context<AssetsApp>): BackfillOptions {
  const partitions = args.list('partition')
  const [from, to] = [args.text('from'), args.text('to')]
  if (partitions.length > 0 && (from !== undefined || to !== undefined)) {
    throw usageError([{ path: '--partition', message: 'cannot be combined with a range' }], hint)
  }
  return {
    from,
    to,
    partitions: partitions.length === 0 ? undefined : partitions,
    only: args.text('only') as BackfillChoice | undefined,
    order: args.text('order') as BackfillOrder | undefined,
    concurrency: args.whole('concurrency'),
    pace: args.text('pace'),
    limit: args.whole('limit'),
  }
}

/** Time partitions may have no first or last one: then the range must give them. */
async function refuseOpenRange(app: AssetsApp, asset: string, { from, to }: BackfillOptions): Promise<void> {
  const spec = (await app.assets.list()).find(({ name }) => name === asset)?.partitions
  if (spec === undefined) return
  const isOpen = (side: 'start' | 'end'): boolean =>
    dimensionsOf(spec).some((one) => isTime(one) && one[side] === undefined)
  const missing = (path: string, which: string): Fault => ({
    path,
    message: `missing option \`${path}\``,
    allowed: `the label of the ${which} partition, or --partition for single ones`,
  })
  const faults = [
    ...(from === undefined && isOpen('start') ? [missing('--from', 'first')] : []),
    ...(to === undefined && isOpen('end') ? [missing('--to', 'last')] : []),
  ]
  if (faults.length > 0) throw usageError(faults, hint)
}

const shownLabels = 10

function showPlan(out: Output, asset: string, { run, skip }: BackfillPlan): void {
  out.show({ asset, started: false, run, skip }, () => {
    out.say(`would make ${count(run.length, 'partition')} of ${asset}${run.length === 0 ? '' : ':'}`)
    for (const label of shortened(run)) out.line(`  ${label}`)
    for (const [reason, labels] of labelsByReason({ run, skip })) {
      const shown = shortened(labels, 3).join(', ')
      out.say(`skips ${count(labels.length, 'partition')} (${reasonText(reason)}): ${shown}`)
    }
    out.say(run.length === 0 ? 'nothing to do' : 'nothing was started; --yes starts it')
  })
}

/** The first and the last of many labels, with the number of those between them. */
function shortened(labels: readonly string[], most = shownLabels): readonly string[] {
  if (labels.length <= most) return labels
  const between = labels.length - most
  return [...labels.slice(0, most - 1), `… ${between} more …`, ...labels.slice(-1)]
}

function reasonText(reason: string): string {
  if (reason === 'not-begun') return 'not begun'
  return reason === 'limit' ? 'beyond the limit' : reason
}

async function started(
  { args, out }: Context<AssetsApp>,
  app: AssetsApp,
  backfill: Backfill | undefined,
): Ended {
  if (backfill === undefined) return out.show({ started: false, run: [] }, 'nothing to do')
  const { id, total, asset } = backfill
  if (args.flag('wait')) return await watchBackfill(out, app.backfills, id)
  out.show(backfillView(backfill), () => {
    out.say(`backfill ${id} makes ${count(total, 'partition')} of ${asset}`)
    out.say(`\`rota backfill\` shows its progress, --cancel ${id} stops it`)
  })
}
