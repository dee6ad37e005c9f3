import {
  type Command,
  detachOption,
  onApp,
  changeOptions,
  storeOptions,
  zoneOption,
} from '../../cli/framework/command.js'
import { printFields } from '../../cli/framework/print/fields.js'
import { printList, printTable } from '../../cli/framework/print/table.js'
import type { Output } from '../../cli/framework/print/output.js'
import type { Argument, Option } from '../../cli/framework/syntax.js'
import { backfill } from './backfill/command.js'
import { type AssetsApp, assetsNamed, noAssets, printGrid, standingOf } from './grid.js'
import { type AssetInfo, assetView, partitionView } from './status.js'
import { depsText, partitionsText, stateColors, whenText } from './text.js'

const oneAsset: Argument = { name: 'asset', help: 'the asset', completes: 'job' }
const anyAsset: Argument = { ...oneAsset, help: 'one asset; default: all', isOptional: true }

const rangeOptions: readonly Option[] = [
  { name: 'from', value: 'label', help: 'the first partition' },
  { name: 'to', value: 'label', help: 'the last partition, included' },
  {
    name: 'newest',
    value: 'count',
    help: 'how many of the newest partitions, without a range',
    whole: [1, 10_000],
  },
]

const list: Command<AssetsApp> = {
  name: 'list',
  summary: 'list the assets',
  arguments: [anyAsset],
  options: storeOptions,
  examples: { 'rota asset list': 'all assets' },
  run: onApp(async (app, { args, out }) => {
    printList(out, await assetsNamed(app, args.optionalWord(0)), {
      empty: noAssets,
      columns: [
        { key: 'name', title: 'ASSET', shortest: 12 },
        { title: 'PARTITIONS', text: ({ partitions }) => partitionsText(partitions), shortest: 8 },
        { title: 'MADE FROM', text: ({ deps }) => depsText(deps), shortest: 9 },
        { title: 'WHEN', text: whenText, shortest: 12 },
      ],
      json: assetView,
    })
  }),
}

const show: Command<AssetsApp> = {
  name: 'show',
  summary: 'show one asset with its newest partitions',
  arguments: [oneAsset],
  options: [...rangeOptions, zoneOption, ...storeOptions],
  examples: { 'rota asset show raw_events --newest 7': 'the newest seven partitions' },
  run: onApp(async (app, { args, out, shortIds }) => {
    const name = args.word(0)
    const range = { from: args.text('from'), to: args.text('to'), newest: args.whole('newest') ?? 10 }
    const partitions = await app.assets.grid(name, range)
    const [info] = (await app.assets.list()).filter((one) => one.name === name)
    const shortId = await shortIds(partitions.flatMap(({ run }) => run ?? []))
    const standing = partitions.map(partitionView)
    out.show({ ...(info && assetView(info)), standing }, () => {
      if (info !== undefined) printAsset(out, info)
      printTable(out, standing, [
        { title: 'PARTITION', text: ({ partition }) => labelText(partition), shortest: 12 },
        { key: 'state', colors: stateColors },
        { title: 'MADE', text: ({ doneAt }, times) => doneAt && times.full(doneAt) },
        { title: 'RUN', text: ({ run }) => run && shortId(run) },
      ])
    })
  }),
}

function printAsset(out: Output, asset: AssetInfo): void {
  printFields(out, asset, {
    asset: 'name',
    partitions: ({ partitions }) => partitionsText(partitions),
    'made from': ({ deps }) => depsText(deps),
    when: whenText,
    queue: 'queue',
    source: 'source',
  })
  out.line()
}

/** An asset without partitions has one label, which is empty. */
function labelText(label: string): string {
  return label === '' ? '(all of it)' : label
}

const grid: Command<AssetsApp> = {
  name: 'grid',
  summary: 'one row per asset, one letter per partition',
  about:
    'Prints a row for every asset and a letter for every partition: D done, R running, F failed, S stale (something upstream is newer), . missing.',
  arguments: [anyAsset],
  options: [...rangeOptions, ...storeOptions],
  examples: { 'rota asset grid': 'all assets' },
  run: onApp(printGrid),
}

const mostSearched = 1000

const stale: Command<AssetsApp> = {
  name: 'stale',
  summary: 'list the stale partitions',
  about: 'Lists the partitions that are stale: something upstream of them is newer.',
  arguments: [anyAsset],
  options: [...rangeOptions, ...storeOptions],
  examples: { 'rota asset stale': 'of all assets' },
  run: onApp(async (app, context) => {
    const { args, out } = context
    const assets = await assetsNamed(app, args.optionalWord(0))
    const newest = args.whole('newest') ?? mostSearched
    const found = (await standingOf(context, app, { assets, newest })).flatMap(({ name, statuses }) =>
      statuses.flatMap(({ state, label }) => (state === 'stale' ? { asset: name, partition: label } : [])),
    )
    printList(out, found, {
      empty: 'nothing is stale',
      columns: [
        { key: 'asset', shortest: 12 },
        { title: 'PARTITION', text: ({ partition }) => labelText(partition), shortest: 12 },
      ],
    })
  }),
}

const materialize: Command<AssetsApp> = {
  name: 'materialize',
  summary: 'make one partition now and follow its run',
  arguments: [oneAsset],
  options: [
    { name: 'partition', value: 'label', help: 'which partition; `rota asset backfill` makes several' },
    detachOption,
    zoneOption,
    ...changeOptions,
  ],
  examples: {
    'rota asset materialize raw_events --partition 2025-01-15': 'one partition, now',
  },
  run: onApp(async (app, { args, follow }) => {
    const name = args.word(0)
    await assetsNamed(app, name)
    const { id } = await app.assets.materialize(name, {
      partition: args.text('partition'),
      dryRun: args.flag('dry-run'),
    })
    return await follow(id)
  }),
}

/** `rota asset`: data that is produced in partitions. */
export const asset: Command<AssetsApp> = {
  name: 'asset',
  about:
    'An asset is data that a job produces in partitions, such as days. It may depend on other assets. It is produced on a schedule, or when everything upstream is done.',
  examples: {
    'rota asset grid': 'the state of every partition',
    'rota asset backfill raw_events --from 2025-01-01 --to 2025-01-31':
      'which partitions a backfill would make',
  },
  subcommands: [list, show, grid, stale, materialize, backfill],
}
