import type { AssetsApp } from '../grid.js'
import {
  type Command,
  type Context,
  type Ended,
  exitCodes,
  onApp,
  changeOptions,
  zoneOption,
} from '../../../cli/framework/command.js'
import { printList } from '../../../cli/framework/print/table.js'
import type { Output } from '../../../cli/framework/print/output.js'
import { count } from '../../../cli/framework/print/words.js'
import { untilSignal } from '../../../cli/framework/until-signal.js'
import { usageError } from '../../../cli/framework/usage-error.js'
import type { Fault } from '../../../kernel/definition/errors.js'
import { dimensionsOf, isTime } from '../../../kernel/partition/spec.js'
import { systemClock } from '../../../time/clock.js'
import type { Backfill } from './backfill.js'
import type { BackfillOptions } from './backfills.js'
import { backfillChoices, labelsByReason } from './choice.js'
import type { BackfillChoice, BackfillOrder, BackfillPlan } from './choice.js'

const hint = 'see `rota asset backfill --help`'

/** `rota asset backfill`: shows what it would make, and with `--yes` makes it. */
export const backfill: Command<AssetsApp> = {
  name: 'backfill',
  summary: 'make the partitions of a range, or list backfills',
  about:
    'Shows which partitions of a range it would make, and which not and why; with --yes it makes them. Without an asset it lists the backfills. A backfill changes no schedule.',
  arguments: [
    { name: 'asset', help: 'the asset; default: list backfills', isOptional: true, completes: 'job' },
  ],
  options: [
    { name: 'partition', value: 'label', help: 'one partition', isList: true },
    { name: 'from', value: 'label', help: 'the first partition' },
    { name: 'to', value: 'label', help: 'the last partition, included' },
    { name: 'only', value: 'state', help: 'which of them; default: missing', choices: backfillChoices },
    {
      name: 'order',
      value: 'order',
      help: 'default: oldest-first',
      choices: ['oldest-first', 'newest-first'],
    },
    { name: 'pace', value: 'count', help: 'how many at once', whole: [1, 100_000] },
    { name: 'limit', value: 'count', help: 'how many at most', whole: [1, 100_000] },
    { name: 'yes', help: 'start it' },
    { name: 'wait', help: 'show the progress until it ends' },
    { name: 'cancel', value: 'id', help: 'cancel the rest of this backfill' },
    { name: 'resume', value: 'id', help: 'continue a backfill whose start was interrupted' },
    zoneOption,
    ...changeOptions,
  ],
  examples: {
    'rota asset backfill raw_events --from 2025-01-01 --to 2025-01-31': 'what would be made',
    'rota asset backfill raw_events --from 2025-01-01 --to 2025-01-31 --only failed --pace 2 --yes':
      'make it, two at once',
    'rota asset backfill --cancel bf-1f2e3d4c': 'stop one',
  },
  run: onApp(act),
}

async function act(app: AssetsApp, context: Context<AssetsApp>): Ended {
  const { args, out } = context
  const cancelled = args.text('cancel')
  const resumed = args.text('resume')
  const asset = args.optionalWord(0)
  const dryRun = args.flag('dry-run')
  if (cancelled !== undefined) return await cancel(out, app, cancelled, dryRun)
  if (resumed !== undefined)
    return await started(context, app, await app.assets.backfills.resume(resumed, { dryRun }))
  if (asset === undefined) {
    refuseWithoutAsset(context)
    return await list(out, app)
  }
  const options = optionsOf(context)
  if (options.partitions === undefined) await refuseOpenRange(app, asset, options)
  out.progress(`looking at the partitions of ${asset}`)
  if (!args.flag('yes') || dryRun)
    return showPlan(out, asset, await app.assets.backfill(asset, { ...options, dryRun: true }))
  const { backfill: begun } = await app.assets.backfill(asset, options)
  return await started(context, app, begun)
}

/** Without an asset these options have no meaning, and a list is not what was asked for. */
function refuseWithoutAsset({ args }: Context<AssetsApp>): void {
  const names = ['partition', 'from', 'to', 'only', 'order', 'pace', 'limit', 'yes', 'wait']
  const given = names.filter((name) => args.flag(name)).map((name) => `--${name}`)
  if (given.length === 0) return
  const message = `missing argument <asset>, which ${given.join(', ')} needs`
  throw usageError([{ path: '<asset>', message }], hint)
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
    pace: args.whole('pace'),
    limit: args.whole('limit'),
  }
}

/** Time has no first and no last partition of its own: where the definition gives none, the range has to. */
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

/** The first and the last of many, with how many lie between them. */
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
  const { id, total, asset, state } = backfill
  if (args.flag('wait') && !args.flag('dry-run')) return await watch(out, app, id)
  if (state === 'cancelled') return out.show(backfill, `backfill ${id} is cancelled`)
  out.show(backfill, () => {
    out.say(`backfill ${id} makes ${count(total, 'partition')} of ${asset}`)
    out.say(`\`rota asset backfill\` shows its progress, --cancel ${id} stops it`)
  })
}

const lookAgainMs = 1000

/** Shows the progress of a backfill until nothing of it is left. */
async function watch(out: Output, app: AssetsApp, id: string): Ended {
  return await untilSignal(async (signal) => {
    for (;;) {
      const status = await app.assets.backfills.get(id)
      const { state, done, total, failed, left } = status
      const text = `backfill ${id}: ${done} of ${total} done, ${failed} failed`
      out.progress(text)
      if (left > 0 && state !== 'cancelled' && !signal.aborted) {
        await systemClock.sleep(lookAgainMs, signal)
        continue
      }
      out.show(status, `${text}, ${left} left`)
      return failed === 0 && left === 0 ? exitCodes.ok : exitCodes.failed
    }
  })
}

async function cancel(out: Output, app: AssetsApp, id: string, dryRun: boolean): Promise<void> {
  const { backfill, cancelled: cancelledRuns } = await app.assets.backfills.cancel(id, { dryRun })
  const text = `cancelled backfill ${id} and ${count(cancelledRuns, 'run')}`
  out.show({ ...backfill, cancelledRuns }, text)
}

const mostListed = 50

async function list(out: Output, app: AssetsApp): Promise<void> {
  const newest = (await app.assets.backfills.list()).slice(0, mostListed)
  const backfills = await Promise.all(newest.map(({ id }) => app.assets.backfills.get(id)))
  printList(out, backfills, {
    empty: 'no backfills yet; `rota asset backfill <asset> --from <label> --to <label>` plans one',
    columns: [
      { key: 'id', title: 'BACKFILL' },
      { key: 'asset', shortest: 8 },
      {
        title: 'PARTITIONS',
        text: ({ first, last }) => (first === last ? first : `${first} … ${last}`),
        shortest: 10,
      },
      { title: 'STATE', text: stateText },
      { title: 'DONE', text: ({ done, total }) => `${done}/${total}`, isRight: true },
      { title: 'FAILED', text: ({ failed }) => (failed === 0 ? undefined : failed) },
      { key: 'createdAt', title: 'SINCE' },
    ],
  })
}

function stateText({ state, started, total, left }: Backfill & { readonly left: number }): string {
  if (state === 'starting') return `interrupted at ${started} of ${total}; --resume`
  if (state === 'cancelled') return 'cancelled'
  return left === 0 ? 'done' : 'running'
}
