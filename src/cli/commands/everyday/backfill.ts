import type { App } from '../../../app/rota.js'
import type { TriggerBackfill } from '../../../app/api/backfills.js'
import { planView } from '../../../app/routes/backfill-views.js'
import type { BackfillStatus } from '../../../engine/backfill/progress.js'
import { instantChoices, instantSkips, type InstantChoice } from '../../../engine/backfill/plan-instants.js'
import { backfillOrders, type BackfillOrder } from '../../../kernel/backfill/backfill.js'
import { backfillView } from '../../../wire/backfills.js'
import { changeOptions, onApp, zoneOption } from '../../framework/command.js'
import type { Command, Context, Ended } from '../../framework/command.js'
import type { Output } from '../../framework/print/output.js'
import { printList } from '../../framework/print/table.js'
import { count } from '../../framework/print/words.js'
import { momentOf } from '../../framework/times-of.js'
import { usageError } from '../../framework/usage-error.js'
import { watchBackfill } from '../../framework/watch-backfill.js'

const hint = 'see `rota backfill --help`'
const rangeOptions = ['from', 'to', 'only', 'definition', 'order', 'concurrency', 'pace', 'limit', 'yes']

/** `rota backfill`: plans to run due instants again, and starts, lists and cancels backfills. */
export const backfill: Command<App> = {
  name: 'backfill',
  about:
    'Plans to run past due instants of a trigger: prints which ones would run, which ones it would skip, and why. The plan has an id; --start starts it, and --yes plans and starts in one step. Each instant runs with the definition that was in force then. A backfill changes no schedule. Without a trigger, the command lists all backfills, also those of assets.',
  arguments: [
    { name: 'trigger', help: 'the trigger; default: list backfills', isOptional: true, completes: 'trigger' },
  ],
  options: [
    { name: 'from', value: 'time', help: 'the first instant' },
    { name: 'to', value: 'time', help: 'the last instant, included; default: now' },
    { name: 'only', value: 'state', help: 'which of them; default: missing', choices: instantChoices },
    {
      name: 'definition',
      value: 'which',
      help: 'which definition decides; default: in-force',
      choices: ['in-force', 'current'],
    },
    { name: 'order', value: 'order', help: 'default: oldest-first', choices: backfillOrders },
    { name: 'concurrency', value: 'count', help: 'how many concurrently', whole: [1, 100_000] },
    { name: 'pace', value: 'pace', help: 'how many may begin in a period, such as 10/1m' },
    { name: 'limit', value: 'count', help: 'how many at most', whole: [1, 10_000] },
    { name: 'yes', short: 'y', help: 'start it' },
    { name: 'wait', help: 'show the progress until it ends' },
    { name: 'start', value: 'id', help: 'start a plan' },
    { name: 'show', value: 'id', help: 'show one and its progress' },
    { name: 'cancel', value: 'id', help: 'stop one' },
    zoneOption,
    ...changeOptions,
  ],
  examples: {
    'rota backfill nightly --from 2026-01-01 --to 2026-02-01': 'what would run, and a plan to start',
    'rota backfill --start bf-1f2e3d4c --wait': 'start the plan and watch it',
    'rota backfill nightly --from 7d --only missing-or-failed --pace 10/1m --yes':
      'plan and start immediately',
    'rota backfill --cancel bf-1f2e3d4c': 'stop one',
  },
  run: onApp(act),
}

async function act(app: App, context: Context<App>): Ended {
  const { args, out } = context
  const options = { dryRun: args.flag('dry-run') }
  const [start, show, cancel] = ['start', 'show', 'cancel'].map((name) => args.text(name))
  const trigger = args.optionalWord(0)
  if (start !== undefined) return await started(app, context, await app.backfills.start(start, options))
  if (show !== undefined)
    return out.show(backfillView(await app.backfills.get(show)), await shownText(app, show))
  if (cancel !== undefined) {
    const ended = await app.backfills.cancel(cancel, options)
    return out.show(
      backfillView(ended),
      `cancelled backfill ${ended.id} and ${count(ended.cancelledRuns, 'run')}`,
    )
  }
  if (trigger === undefined) return await list(app, context)
  return await plan(app, context, trigger)
}

async function plan(app: App, context: Context<App>, trigger: string): Ended {
  const { args, out } = context
  const from = momentOf(context, 'from', 'ago')
  if (from === undefined) throw usageError([{ path: '--from', message: 'missing option `--from`' }], hint)
  const planned = await app.triggers.backfill(trigger, {
    from,
    to: momentOf(context, 'to', 'ago') ?? new Date(app.now()),
    only: args.text('only') as InstantChoice | undefined,
    definition: args.text('definition') as 'in-force' | 'current' | undefined,
    order: args.text('order') as BackfillOrder | undefined,
    concurrency: args.whole('concurrency'),
    pace: args.text('pace'),
    limit: args.whole('limit'),
    start: args.flag('yes'),
    dryRun: args.flag('dry-run'),
  })
  const { backfill: stored } = planned
  if (stored !== undefined && stored.state !== 'planned') return await started(app, context, stored)
  out.show(planView(planned), () => printPlan(out, trigger, planned))
}

const shownInstants = 10

function printPlan(out: Output, trigger: string, { run, skip, backfill: stored }: TriggerBackfill): void {
  const times = out.times()
  out.say(`would run ${count(run.length, 'instant')} of ${trigger}${run.length === 0 ? '' : ':'}`)
  const shown = run.length > shownInstants ? run.slice(0, shownInstants - 1) : run
  for (const { at } of shown) out.line(`  ${times.exact(at)}`)
  if (shown.length < run.length) {
    const last = run.at(-1)
    out.line(`  … ${run.length - shown.length - 1} more …`)
    if (last !== undefined) out.line(`  ${times.exact(last.at)}`)
  }
  for (const { firstAt, lastAt, count: instants, reason, detail } of skip) {
    const range =
      firstAt === lastAt ? times.exact(firstAt) : `${times.exact(firstAt)} to ${times.exact(lastAt)}`
    const many = instants === 0 ? 'skips' : `skips ${count(instants, 'instant')},`
    out.say(`${many} ${range}:`)
    out.line(`  ${instantSkips[reason]}${detail === undefined ? '' : ` (${detail})`}`)
  }
  if (skip.some(({ reason }) => reason === 'not-defined'))
    out.say('`--definition current` also runs what was due before the trigger was defined')
  if (stored !== undefined) out.say(`nothing was started; \`rota backfill --start ${stored.id}\` starts it`)
  else out.say(run.length === 0 ? 'nothing to do' : 'nothing was planned: a dry run')
}

async function started(app: App, { args, out }: Context<App>, begun: { id: string }): Ended {
  const { id } = begun
  if (args.flag('dry-run')) return out.show({ id, started: false }, `would start backfill ${id}`)
  if (args.flag('wait')) return await watchBackfill(out, app.backfills, id)
  const status = await app.backfills.get(id)
  out.show(backfillView(status), () => {
    out.say(
      `backfill ${id} runs ${count(status.total, 'instant')} of ${status.trigger ?? status.asset ?? ''}`,
    )
    out.say(`\`rota backfill --show ${id}\` shows its progress, --cancel ${id} stops it`)
  })
}

async function shownText(app: App, id: string): Promise<string> {
  const status = await app.backfills.get(id)
  const { trigger, asset, first, last, done, total, failed, left, by, reason } = status
  const of = trigger === null ? `asset ${asset}` : `trigger ${trigger}`
  return [
    `${id}  ${stateText(status)}  ${of}, ${first} … ${last}`,
    `${done} of ${total} done, ${failed} failed, ${left} left`,
    `by ${by}${reason === null ? '' : `: ${reason}`}`,
  ].join('\n')
}

async function list(app: App, { args, out }: Context<App>): Promise<void> {
  const given = rangeOptions.filter((name) => args.flag(name)).map((name) => `--${name}`)
  if (given.length > 0) {
    const message = `missing argument <trigger>, which ${given.join(', ')} needs`
    throw usageError([{ path: '<trigger>', message }], hint)
  }
  printList(out, await app.backfills.list({ limit: 50 }), {
    json: backfillView,
    empty: 'no backfills yet; `rota backfill <trigger> --from <time> --to <time>` plans one',
    columns: [
      { key: 'id', title: 'BACKFILL' },
      { title: 'OF', text: ({ trigger, asset }) => trigger ?? asset ?? '', shortest: 8 },
      {
        title: 'RANGE',
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

function stateText({ state, left }: BackfillStatus): string {
  if (state !== 'started') return state
  return left === 0 ? 'done' : 'running'
}
