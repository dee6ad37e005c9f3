import type { Backfill } from './backfill.js'
import type { BackfillChoice, BackfillOrder, BackfillPlan } from './choice.js'
import type { BackfillOptions } from './backfills.js'
import { dimensionsOf, isTime } from '../../../kernel/partition/spec.js'
import { labelsByReason } from './choice.js'
import type { Rota } from '../../../app/rota.js'
import { formatInstant } from '../../../time/instant.js'
import { systemClock } from '../../../time/clock.js'
import { type Context, exitCodes } from '../../../cli/framework/command.js'
import { untilSignal } from '../../../cli/views/follow.js'
import { count } from '../../../cli/views/in-words.js'
import { printTable } from '../../../cli/framework/print/table.js'
import { timesOf } from '../../../cli/framework/times-of.js'
import { usageError } from '../../../cli/framework/usage-error.js'

/** `rota asset backfill`: says what it would make, and with `--yes` makes it. */
export async function backfill(context: Context, app: Rota): Promise<number> {
  const { args } = context
  const cancelled = args.text('cancel')
  const resumed = args.text('resume')
  const asset = args.optionalWord(1)
  if (cancelled !== undefined) return await cancel(context, app, cancelled)
  if (resumed !== undefined) return await started(context, app, await app.assets.backfills.resume(resumed))
  if (asset === undefined) {
    refuseWithoutAsset(context)
    return await list(context, app)
  }
  const options = optionsOf(context)
  if (options.partitions === undefined) await refuseOpenRange(app, asset, options)
  context.out.progress(`looking at the partitions of ${asset}`)
  if (!args.flag('yes'))
    return showPlan(context, asset, await app.assets.backfill(asset, { ...options, dryRun: true }))
  return await started(context, app, (await app.assets.backfill(asset, options)).backfill)
}

/** Without an asset there is nothing that these could be about, and a list is not what was asked for. */
function refuseWithoutAsset({ args }: Context): void {
  const names = ['partition', 'from', 'to', 'only', 'order', 'pace', 'limit', 'yes', 'wait']
  const given = names.filter((name) => args.flag(name)).map((name) => `--${name}`)
  if (given.length === 0) return
  const message = `it is missing, and ${given.join(', ')} cannot be without it`
  throw usageError([{ path: '<asset>', message }], '`rota asset --help` shows examples')
}

function optionsOf({ args }: Context): BackfillOptions {
  const partitions = args.list('partition')
  const [from, to] = [args.text('from'), args.text('to')]
  if (partitions.length > 0 && (from !== undefined || to !== undefined)) {
    const message = 'a range and single partitions cannot be combined'
    throw usageError([{ path: '--partition', message }], '`rota asset --help` shows examples')
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

/** Time has no beginning and no end of its own: where the definition gives none, the range has to. */
async function refuseOpenRange(app: Rota, asset: string, { from, to }: BackfillOptions): Promise<void> {
  const spec = (await app.assets.list()).find(({ name }) => name === asset)?.partitions
  if (spec === undefined) return
  const isOpen = (side: 'start' | 'end'): boolean =>
    dimensionsOf(spec).some((one) => isTime(one) && one[side] === undefined)
  const missing = [
    ...(from === undefined && isOpen('start') ? [{ option: '--from', which: 'first' }] : []),
    ...(to === undefined && isOpen('end') ? [{ option: '--to', which: 'last' }] : []),
  ]
  if (missing.length === 0) return
  const faults = missing.map(({ option, which }) => ({
    path: option,
    message: 'it is missing',
    allowed: `the label of the ${which} partition, or --partition for single ones`,
  }))
  throw usageError(faults, '`rota asset --help` shows examples')
}

const shownLabels = 10

function showPlan({ args, out }: Context, asset: string, plan: BackfillPlan): number {
  if (args.flag('json')) {
    out.json({ asset, started: false, run: plan.run, skip: plan.skip })
    return exitCodes.ok
  }
  out.say(`would make ${count(plan.run.length, 'partition')} of ${asset}${plan.run.length === 0 ? '' : ':'}`)
  for (const label of shortened(plan.run)) out.line(`  ${label}`)
  for (const [reason, labels] of labelsByReason(plan)) {
    out.say(
      `leaves ${labels.length} alone that ${reasonText(reason, labels.length)}: ${shortened(labels, 3).join(', ')}`,
    )
  }
  out.say(plan.run.length === 0 ? 'nothing to do' : 'nothing was started; --yes starts it')
  return exitCodes.ok
}

/** The first and the last of many, with how many lie between them. */
function shortened(labels: readonly string[], most = shownLabels): readonly string[] {
  if (labels.length <= most) return labels
  const between = labels.length - most
  return [...labels.slice(0, most - 1), `… ${between} more …`, ...labels.slice(-1)]
}

function reasonText(reason: string, labels: number): string {
  const [is, has] = labels === 1 ? ['is', 'has'] : ['are', 'have']
  if (reason === 'not-begun') return `${has} not begun`
  return reason === 'limit' ? `${is} beyond the limit` : `${is} ${reason}`
}

async function started(context: Context, app: Rota, backfill: Backfill | undefined): Promise<number> {
  const { args, out } = context
  if (backfill === undefined) {
    if (args.flag('json')) out.json({ started: false, run: [] })
    else out.say('nothing to do')
    return exitCodes.ok
  }
  const { id, total, asset, state } = backfill
  if (args.flag('wait')) return await watch(context, app, id)
  if (args.flag('json')) out.json(view(backfill))
  else if (state === 'cancelled') out.say(`backfill ${id} is cancelled`)
  else {
    out.say(`backfill ${id} makes ${count(total, 'partition')} of ${asset}`)
    out.say(`\`rota asset backfill\` shows how it goes, --cancel ${id} ends it`)
  }
  return exitCodes.ok
}

const lookAgainMs = 1000

/** Shows how far a backfill is until nothing of it is left. */
async function watch(context: Context, app: Rota, id: string): Promise<number> {
  const { args, out } = context
  return await untilSignal(async (signal) => {
    for (;;) {
      const status = await app.assets.backfills.get(id)
      const isOver = status.left === 0 || status.state === 'cancelled'
      out.progress(`backfill ${id}: ${status.done} of ${status.total} done, ${status.failed} failed`)
      if (!isOver && !signal.aborted) {
        await systemClock.sleep(lookAgainMs, signal)
        continue
      }
      if (args.flag('json')) out.json(view(status))
      else
        out.say(
          `backfill ${id}: ${status.done} of ${status.total} done, ${status.failed} failed, ${status.left} left`,
        )
      return status.failed === 0 && status.left === 0 ? exitCodes.ok : exitCodes.failed
    }
  })
}

async function cancel({ args, out }: Context, app: Rota, id: string): Promise<number> {
  const { backfill, cancelled } = await app.assets.backfills.cancel(id)
  if (args.flag('json')) out.json({ ...view(backfill), cancelledRuns: cancelled })
  else out.say(`backfill ${id} is cancelled; ${count(cancelled, 'run')} of it will not be performed`)
  return exitCodes.ok
}

const mostListed = 50

async function list(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  const newest = (await app.assets.backfills.list()).slice(0, mostListed)
  const backfills = await Promise.all(newest.map(({ id }) => app.assets.backfills.get(id)))
  if (args.flag('json')) out.json(backfills.map(view))
  else if (backfills.length === 0)
    out.say('no backfills yet; `rota asset backfill <asset> --from <label> --to <label>` plans one')
  else {
    const times = timesOf(context)
    printTable(out, backfills, [
      { title: 'BACKFILL', text: ({ id }) => id },
      { title: 'ASSET', text: ({ asset }) => asset, shortest: 8 },
      {
        title: 'PARTITIONS',
        text: ({ first, last }) => (first === last ? first : `${first} … ${last}`),
        shortest: 10,
      },
      { title: 'STATE', text: (one) => stateText(one) },
      { title: 'DONE', text: ({ done, total }) => `${done}/${total}`, isRight: true },
      { title: 'FAILED', text: ({ failed }) => (failed === 0 ? '' : String(failed)), isRight: true },
      { title: 'SINCE', text: ({ createdAt }) => times.short(createdAt) },
    ])
  }
  return exitCodes.ok
}

function stateText({ state, started, total, left }: Backfill & { readonly left: number }): string {
  if (state === 'starting') return `cut short at ${started} of ${total}; --resume`
  if (state === 'cancelled') return 'cancelled'
  return left === 0 ? 'over' : 'going on'
}

function view(backfill: Backfill) {
  return { ...backfill, createdAt: formatInstant(backfill.createdAt) }
}
