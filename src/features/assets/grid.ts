import type { Assets } from './api.js'
import type { AssetInfo, PartitionStatus } from './status.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { partitionsText, stateColors } from './text.js'
import { partitionStates, type PartitionState } from './partition-state.js'
import type { Context } from '../../cli/framework/command.js'
import { displayWidth } from '../../cli/framework/print/display-width.js'
import type { WatchedBackfills } from '../../cli/framework/watch-backfill.js'
import type { Output } from '../../cli/framework/print/output.js'

/** What the commands of assets use of an app. */
export interface AssetsApp {
  readonly assets: Assets
  readonly backfills: WatchedBackfills
}

/** Assets with the same partitions, and the states of these. */
interface Group {
  readonly title: string
  readonly labels: readonly string[]
  readonly rows: readonly { readonly name: string; readonly statuses: readonly PartitionStatus[] }[]
}

const most = 60

/** `rota asset grid`: one row for every asset, one letter for every partition. */
export async function printGrid(app: AssetsApp, context: Context<AssetsApp>): Promise<void> {
  const { args, out } = context
  const assets = await assetsNamed(app, args.optionalWord(0))
  const nameWidth = Math.max(0, ...assets.map(({ name }) => displayWidth(name)))
  const newest = args.whole('newest') ?? Math.max(1, Math.min(most, out.width - nameWidth - 2))
  const groups = groupsOf(await standingOf(context, app, { assets, newest }))
  const data = groups.flatMap(({ rows }) => rows.map(({ name, statuses }) => rowView(name, statuses)))
  out.show(data, () => {
    if (assets.length === 0) out.say(noAssets)
    for (const [index, group] of groups.entries()) {
      if (index > 0) out.line()
      printGroup(out, group, nameWidth)
    }
    if (assets.length > 0) printLegend(out)
  })
}

/** The text if nothing is defined yet. */
export const noAssets = 'no assets yet; a config defines them under assets, `rota up` stores them'

/** All assets, or the one with this name; an unknown name is an error. */
export async function assetsNamed(app: AssetsApp, named: string | undefined): Promise<readonly AssetInfo[]> {
  const assets = (await app.assets.list()).filter(({ name }) => named === undefined || name === named)
  if (named !== undefined && assets.length === 0) await app.assets.grid(named)
  return assets
}

/** An asset with the states of the partitions of a range. */
interface Standing extends AssetInfo {
  readonly statuses: readonly PartitionStatus[]
}

/** The states of assets in the requested range. Assets without such labels are left out, unless no asset has them. */
export async function standingOf(
  { args, out }: Context<AssetsApp>,
  app: AssetsApp,
  { assets, newest }: { readonly assets: readonly AssetInfo[]; readonly newest: number },
): Promise<readonly Standing[]> {
  const range = { from: args.text('from'), to: args.text('to'), newest }
  const standing: Standing[] = []
  const refusals = new Map<string, unknown>()
  for (const asset of assets) {
    try {
      standing.push({ ...asset, statuses: await app.assets.grid(asset.name, range) })
    } catch (error) {
      if (!(error instanceof RotaError) || error.code !== 'PARTITION_INVALID') throw error
      refusals.set(asset.name, error)
    }
  }
  const [first] = refusals.values()
  if (standing.length === 0 && first !== undefined) throw first
  if (refusals.size > 0)
    out.note(`left out, as they have no such partitions: ${[...refusals.keys()].join(', ')}`)
  return standing
}

function rowView(name: string, statuses: readonly PartitionStatus[]) {
  return { asset: name, partitions: statuses.map(({ label, state }) => ({ partition: label, state })) }
}

function groupsOf(standing: readonly Standing[]): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const { name, partitions, statuses } of standing) {
    const labels = statuses.map(({ label }) => label)
    const key = JSON.stringify([partitions.kind, labels])
    const known = groups.get(key)
    const own = partitionsText(partitions)
    // Days of two zones are in the same column.
    const title = known === undefined || known.title === own ? own : partitions.kind
    groups.set(key, { title, labels, rows: [...(known?.rows ?? []), { name, statuses }] })
  }
  return [...groups.values()]
}

/** Long rows are split into lines, each under its first and last label. */
function printGroup(out: Output, { title, labels, rows }: Group, nameWidth: number): void {
  const room = Math.max(1, out.width - nameWidth - 2)
  for (let from = 0; from === 0 || from < labels.length; from += room) {
    const part = labels.slice(from, from + room)
    out.line(out.colors.dim(cut(`${title === '' ? 'one piece' : title}${spanText(part)}`, out.width)))
    for (const { name, statuses } of rows) {
      const letters = statuses.slice(from, from + room).map(({ state }) => letterOf(out, state))
      out.line(`${name}${' '.repeat(nameWidth - displayWidth(name))}  ${letters.join('')}`)
    }
  }
}

function spanText(labels: readonly string[]): string {
  const [first = '', last = first] = [labels[0], labels.at(-1)]
  if (first === '') return ''
  return first === last ? `: ${first}` : `: ${first} … ${last}`
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text
}

function printLegend(out: Output): void {
  const entries = partitionStates.map((state) => `${letterOf(out, state)} ${state}`)
  out.line()
  out.line(entries.join('   '))
}

/** The letter of each state. */
const stateLetters: Readonly<Record<PartitionState, string>> = {
  missing: '.',
  running: 'R',
  done: 'D',
  failed: 'F',
  stale: 'S',
}

function letterOf({ colors }: Output, state: PartitionState): string {
  return colors[stateColors[state]](stateLetters[state])
}
