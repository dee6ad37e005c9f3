import type { AssetInfo } from './status.js'
import { backfillChoices } from './backfill/choice.js'
import type { Rota } from '../../app/rota.js'
import { formatInstant } from '../../time/instant.js'
import { backfill } from './backfill/command.js'
import { assetsNamed, noAssets, printGrid, standingOf } from './grid.js'
import { depsText, partitionPaint, partitionsText, whenText } from './text.js'
import { chosenWord, type OptionOwners, refuseStray } from '../../cli/framework/actions.js'
import {
  type Command,
  type Context,
  exitCodes,
  storeOptions,
  zoneOption,
} from '../../cli/framework/command.js'
import { printFields } from '../../cli/framework/print/fields.js'
import { shortIdOf } from '../../cli/host/short-id-of.js'
import { printTable } from '../../cli/framework/print/table.js'
import { timesOf } from '../../cli/framework/times-of.js'
import { usageError } from '../../cli/framework/usage-error.js'
import { withApp } from '../../cli/host/with-app.js'
import { followToEnd } from '../../cli/commands/everyday/run.js'

const actions = ['list', 'show', 'grid', 'stale', 'materialize', 'backfill'] as const

/** `rota asset`: data that is made in partitions. */
export const asset: Command = {
  name: 'asset',
  about:
    'list shows all assets, show one with its newest partitions. grid has a row for every asset and a letter for every partition: D done, R running, F failed, S stale (something upstream is newer), . missing. stale lists what is stale. materialize makes one partition and follows its run. backfill says which partitions of a range it would make and which it would leave alone and why; with --yes it makes them; without an asset it lists backfills. A backfill moves no schedule.',
  arguments: [
    { name: 'action', help: actions.join(', '), choices: actions },
    {
      name: 'asset',
      help: 'which one; for list, grid and stale all without it',
      isOptional: true,
      completes: 'job',
    },
  ],
  options: [
    { name: 'partition', value: 'label', help: 'materialize, backfill: which partition', isList: true },
    { name: 'from', value: 'label', help: 'show, grid, stale, backfill: the first partition' },
    { name: 'to', value: 'label', help: 'show, grid, stale, backfill: the last partition, included' },
    {
      name: 'newest',
      value: 'count',
      help: 'show, grid, stale: how many of the newest, without a range',
      whole: { min: 1, max: 10_000 },
    },
    {
      name: 'only',
      value: 'state',
      help: 'backfill: which of them; default missing',
      choices: backfillChoices,
    },
    {
      name: 'order',
      value: 'order',
      help: 'backfill: default oldest-first',
      choices: ['oldest-first', 'newest-first'],
    },
    { name: 'pace', value: 'count', help: 'backfill: how many at once', whole: { min: 1, max: 100_000 } },
    { name: 'limit', value: 'count', help: 'backfill: how many at most', whole: { min: 1, max: 100_000 } },
    { name: 'yes', help: 'backfill: start it' },
    { name: 'wait', help: 'backfill: show how it goes until it is over' },
    { name: 'cancel', value: 'id', help: 'backfill: cancel what is left of it' },
    { name: 'resume', value: 'id', help: 'backfill: go on with one that was cut short while it was started' },
    { name: 'detach', short: 'd', help: 'materialize: print the id and do not wait' },
    zoneOption,
    ...storeOptions,
  ],
  examples: [
    { line: 'rota asset grid', meaning: 'how everything stands' },
    { line: 'rota asset show raw_events --newest 7', meaning: 'one asset' },
    { line: 'rota asset materialize raw_events --partition 2025-01-15', meaning: 'one partition, now' },
    {
      line: 'rota asset backfill raw_events --from 2025-01-01 --to 2025-01-31',
      meaning: 'what would be made',
    },
    {
      line: 'rota asset backfill raw_events --from 2025-01-01 --to 2025-01-31 --only failed --pace 2 --yes',
      meaning: 'make it, two at once',
    },
    { line: 'rota asset backfill --cancel bf-1f2e3d4c', meaning: 'stop one' },
  ],
  run: (context) => {
    const action = actionOf(context)
    return withApp(context, (app) => act(context, action, app))
  },
}

type Action = (typeof actions)[number]

const hint = '`rota asset --help` shows examples'

const owners: OptionOwners<Action> = {
  partition: ['materialize', 'backfill'],
  from: ['show', 'grid', 'stale', 'backfill'],
  to: ['show', 'grid', 'stale', 'backfill'],
  newest: ['show', 'grid', 'stale'],
  only: ['backfill'],
  order: ['backfill'],
  pace: ['backfill'],
  limit: ['backfill'],
  yes: ['backfill'],
  wait: ['backfill'],
  cancel: ['backfill'],
  resume: ['backfill'],
  detach: ['materialize'],
}

function actionOf(context: Context): Action {
  const { args } = context
  const action = chosenWord(args.word(0), { command: 'asset', known: actions })
  const needsAsset = action === 'show' || action === 'materialize'
  if (needsAsset && args.optionalWord(1) === undefined) {
    throw usageError([{ path: '<asset>', message: 'it is missing' }], hint)
  }
  if (action === 'materialize' && args.list('partition').length > 1) {
    const message = 'materialize makes one; `rota asset backfill` makes several'
    throw usageError([{ path: '--partition', message }], hint)
  }
  refuseStray(context, action, { command: 'asset', owners })
  return action
}

async function act(context: Context, action: Action, app: Rota): Promise<number> {
  switch (action) {
    case 'list':
      return await list(context, app)
    case 'show':
      return await show(context, app)
    case 'grid':
      return await printGrid(context, app)
    case 'stale':
      return await stale(context, app)
    case 'materialize':
      return await materialize(context, app)
    case 'backfill':
      return await backfill(context, app)
  }
}

async function list({ args, out }: Context, app: Rota): Promise<number> {
  const assets = await assetsNamed(app, args.optionalWord(1))
  if (args.flag('json')) out.json(assets.map(assetView))
  else if (assets.length === 0) out.say(noAssets)
  else {
    printTable(out, assets, [
      { title: 'ASSET', text: ({ name }) => name, shortest: 12 },
      { title: 'PARTITIONS', text: ({ partitions }) => partitionsText(partitions), shortest: 8 },
      { title: 'MADE FROM', text: ({ deps }) => depsText(deps), shortest: 9 },
      { title: 'WHEN', text: (one) => whenText(one), shortest: 12 },
    ])
  }
  return exitCodes.ok
}

function assetView({ name, partitions, deps, queue, source, follows, schedules }: AssetInfo) {
  return {
    name,
    partitions,
    deps,
    queue,
    source,
    follows,
    schedules: schedules.map(({ trigger, nextAt }) => ({
      name: trigger.name,
      schedule: trigger.schedule,
      partition: trigger.partition ?? null,
      enabled: trigger.enabled,
      nextAt: nextAt === undefined ? null : formatInstant(nextAt),
    })),
  }
}

async function show(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  const name = args.word(1)
  const statuses = await app.assets.grid(name, { ...rangeOf(context), newest: args.whole('newest') ?? 10 })
  const [info] = (await app.assets.list()).filter((one) => one.name === name)
  if (args.flag('json')) {
    const standing = statuses.map(({ label, state, doneAt, run }) => ({
      partition: label,
      state,
      doneAt: doneAt === undefined ? null : formatInstant(doneAt),
      run: run ?? null,
    }))
    out.json({ ...(info === undefined ? {} : assetView(info)), standing })
    return exitCodes.ok
  }
  const times = timesOf(context)
  if (info !== undefined) {
    printFields(out, [
      ['asset', name],
      ['partitions', partitionsText(info.partitions)],
      ['made from', depsText(info.deps)],
      ['when', whenText(info)],
      ['queue', info.queue],
      ['source', info.source],
    ])
    out.line()
  }
  const shortId = await shortIdOf(
    app,
    statuses.flatMap(({ run }) => run ?? []),
  )
  printTable(out, statuses, [
    { title: 'PARTITION', text: ({ label }) => (label === '' ? '(all of it)' : label), shortest: 12 },
    { title: 'STATE', text: ({ state }) => state, paint: ({ state }) => partitionPaint(out, state) },
    { title: 'MADE', text: ({ doneAt }) => (doneAt === undefined ? '' : times.full(doneAt)) },
    { title: 'RUN', text: ({ run }) => (run === undefined ? '' : shortId(run)) },
  ])
  return exitCodes.ok
}

function rangeOf({ args }: Context): { from: string | undefined; to: string | undefined } {
  return { from: args.text('from'), to: args.text('to') }
}

const mostLooked = 1000

async function stale(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  const assets = await assetsNamed(app, args.optionalWord(1))
  const newest = args.whole('newest') ?? mostLooked
  const found: { readonly asset: string; readonly partition: string }[] = []
  for (const { name, statuses } of await standingOf(context, app, { assets, newest })) {
    const labels = statuses.filter(({ state }) => state === 'stale').map(({ label }) => label)
    found.push(...labels.map((partition) => ({ asset: name, partition })))
  }
  if (args.flag('json')) out.json(found)
  else if (found.length === 0) out.say('nothing is stale')
  else {
    printTable(out, found, [
      { title: 'ASSET', text: ({ asset: name }) => name, shortest: 12 },
      {
        title: 'PARTITION',
        text: ({ partition }) => (partition === '' ? '(all of it)' : partition),
        shortest: 12,
      },
    ])
  }
  return exitCodes.ok
}

async function materialize(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  await assetsNamed(app, args.word(1))
  const partition = args.text('partition')
  const { id } = await app.assets.materialize(args.word(1), { partition })
  if (!args.flag('detach')) return await followToEnd(context, app, id)
  if (args.flag('json')) out.json({ id })
  else out.line(id)
  return exitCodes.ok
}
