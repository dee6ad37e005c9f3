import type { AssetInfo, PartitionStatus } from '../app/nouns.js'
import { partitionStates } from '../app/nouns.js'
import type { Rota } from '../app/rota.js'
import { partitionPaint, partitionsText, stateLetters } from './asset-text.js'
import { type Context, exitCodes } from './command.js'
import { displayWidth } from './display-width.js'
import type { Output } from './output.js'

/** Assets whose partitions are the same, with how these stand. */
interface Group {
  readonly title: string
  readonly labels: readonly string[]
  readonly rows: readonly { readonly name: string; readonly statuses: readonly PartitionStatus[] }[]
}

const most = 60

/** `rota asset grid`: one row for every asset, one letter for every partition. */
export async function printGrid(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  const named = args.optionalWord(1)
  const assets = (await app.assets()).filter(({ name }) => named === undefined || name === named)
  if (named !== undefined && assets.length === 0) await app.partitions(named)
  const nameWidth = Math.max(0, ...assets.map(({ name }) => displayWidth(name)))
  const newest = args.whole('newest') ?? Math.max(1, Math.min(most, out.width - nameWidth - 2))
  const groups = await groupsOf(app, assets, { from: args.text('from'), to: args.text('to'), newest })
  if (args.flag('json')) {
    out.json(groups.flatMap(({ rows }) => rows.map(({ name, statuses }) => rowView(name, statuses))))
    return exitCodes.ok
  }
  if (assets.length === 0) out.line('no assets')
  for (const [index, group] of groups.entries()) {
    if (index > 0) out.line()
    printGroup(out, group, nameWidth)
  }
  if (assets.length > 0) printLegend(out)
  return exitCodes.ok
}

function rowView(name: string, statuses: readonly PartitionStatus[]) {
  return { asset: name, partitions: statuses.map(({ label, state }) => ({ partition: label, state })) }
}

async function groupsOf(
  app: Rota,
  assets: readonly AssetInfo[],
  range: { readonly from?: string | undefined; readonly to?: string | undefined; readonly newest: number },
): Promise<readonly Group[]> {
  const groups = new Map<string, Group>()
  for (const { name, partitions } of assets) {
    const statuses = await app.partitions(name, range)
    const labels = statuses.map(({ label }) => label)
    const key = JSON.stringify([partitions.kind, labels])
    const known = groups.get(key)
    const own = partitionsText(partitions)
    // Days of two zones stand under each other as days.
    const title = known === undefined || known.title === own ? own : partitions.kind
    groups.set(key, { title, labels, rows: [...(known?.rows ?? []), { name, statuses }] })
  }
  return [...groups.values()]
}

/** Long rows go on in lines below each other, each under the labels that it begins and ends with. */
function printGroup(out: Output, { title, labels, rows }: Group, nameWidth: number): void {
  const room = Math.max(1, out.width - nameWidth - 2)
  for (let from = 0; from === 0 || from < labels.length; from += room) {
    const part = labels.slice(from, from + room)
    out.line(out.colors.dim(cut(`${title === '' ? 'one piece' : title}${spanText(part)}`, out.width)))
    for (const { name, statuses } of rows) {
      const letters = statuses
        .slice(from, from + room)
        .map(({ state }) => partitionPaint(out, state)(stateLetters[state]))
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
  const entries = partitionStates.map((state) => {
    return `${partitionPaint(out, state)(stateLetters[state])} ${state}`
  })
  out.line()
  out.line(entries.join('   '))
}
