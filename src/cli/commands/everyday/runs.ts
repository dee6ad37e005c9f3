import type { Run } from '../../../kernel/run/run.js'
import { listOf, type RunFilter } from '../../../store/run-filter.js'
import type { App } from '../../../app/rota.js'
import type { StoreReader } from '../../../app/store/store-reader.js'
import { onStore } from '../../host/on-store.js'
import { shortIdOf } from '../../host/short-id-of.js'
import { type Command, type Context, storeOptions, zoneOption } from '../../framework/command.js'
import { untilSignal } from '../../framework/until-signal.js'
import { lookAgain } from '../../views/look-again.js'
import { pendingOf } from '../../views/pending-of.js'
import { noteText, ofText, printRuns, stateColors, tookText } from '../../views/runs-table.js'
import { hasRunFilter, runConditionsOf, runFilterOptions } from '../../framework/run-filter.js'
import { unknownName } from '../../options/unknown-name.js'
import { runView } from '../../../wire/views/runs.js'
import { cutToWidth } from '../../framework/print/display-width.js'
import { printable } from '../../../text/printable.js'

/** `rota runs`: lists runs. */
export const runs: Command<App> = {
  name: 'runs',
  about:
    'Lists the runs that are already due, the newest due instant first, and prints how many are due later; --state pending also lists those. Every command accepts the beginning of an id that matches only one run.',
  options: [
    ...runFilterOptions,
    { name: 'limit', short: 'n', value: 'n', help: 'how many; default: 20', whole: [1, 10_000] },
    { name: 'watch', short: 'w', help: 'print every change too, until Ctrl-C' },
    zoneOption,
    ...storeOptions,
  ],
  examples: {
    'rota runs': 'the newest twenty that are due',
    'rota runs --state pending': 'pending runs, also later ones',
    'rota runs --state failed --since 24h': 'what failed in the last day',
    [`rota runs --filter 'state:failed error:ECONN* due:today'`]: 'more conditions, as one text',
    'rota runs --trigger nightly --watch': 'watch its runs start and end',
  },
  run: onStore(async (reader, context) => {
    const filter = { ...(await runConditionsOf(context, 'runs')), limit: context.args.whole('limit') ?? 20 }
    const found = await (await reader.store()).runs(upToNow(reader, filter))
    if (found.length === 0) await refuseUnknown(reader, filter)
    const { args, out } = context
    const isWatched = args.flag('watch')
    if (out.isJson && isWatched) for (const run of found.toReversed()) out.json(runView(run))
    else if (out.isJson) out.json(found.map(runView))
    else await print(context, { reader, filter, found })
    if (isWatched) return await untilSignal((signal) => watch(context, { reader, filter, found, signal }))
  }),
}

/** Refuses a job or trigger that is not defined and has no runs: it is probably misspelt. */
async function refuseUnknown(reader: StoreReader, { job, trigger }: RunFilter): Promise<void> {
  const store = await reader.store()
  const has = async (filter: Omit<RunFilter, 'limit'>): Promise<boolean> =>
    (await store.runs({ ...filter, limit: 1 })).length > 0
  const jobs = job === undefined ? [] : (await store.jobs()).map((stored) => stored.job.name)
  for (const name of listOf(job) ?? [])
    if (!jobs.includes(name) && !(await has({ job: name }))) throw await unknownName(reader, name, 'job')
  const triggers = await store.triggers({ names: listOf(trigger) ?? [] })
  const known = new Set(triggers.map((stored) => stored.trigger.name))
  for (const name of listOf(trigger) ?? [])
    if (!known.has(name) && !(await has({ trigger: name }))) throw await unknownName(reader, name, 'trigger')
}

/** Future runs would fill the list, so they are shown only on request. */
function upToNow(reader: StoreReader, filter: RunFilter): RunFilter {
  const now = reader.now()
  const asksForLater =
    filter.state !== undefined || (filter.sinceAt ?? 0) > now || (filter.untilAt ?? 0) > now
  return asksForLater ? filter : { ...filter, untilAt: Math.min(now, filter.untilAt ?? now) }
}

interface Listed {
  readonly reader: StoreReader
  readonly filter: RunFilter
  readonly found: readonly Run[]
}

async function print(context: Context<App>, { reader, filter, found }: Listed): Promise<void> {
  const { out } = context
  const later = await countLater(reader, filter)
  const pending = await pendingOf(reader, found)
  if (found.length > 0) printRuns(out, found, pending)
  if (later !== undefined) {
    const words = found.length > 0 ? `${later} more` : `no run is due yet; ${later}`
    out.say(`${words} ${later === '1' ? 'is' : 'are'} due later: \`rota runs --state pending\``)
  } else if (found.length === 0) out.say(emptyText(context))
}

/** The number of later runs is counted up to this limit: counting very many would take longer than the list. */
const mostCounted = 1000

/** How many future runs a filter leaves out. */
async function countLater(reader: StoreReader, filter: RunFilter): Promise<string | undefined> {
  const { untilAt } = upToNow(reader, filter)
  if (untilAt === undefined) return undefined
  const isLater = { state: 'pending', sinceAt: untilAt + 1, limit: mostCounted + 1 } as const
  const later = await (await reader.store()).runs({ ...filter, ...isLater })
  if (later.length === 0) return undefined
  return later.length > mostCounted ? `more than ${mostCounted}` : String(later.length)
}

function emptyText(context: Context<App>): string {
  return hasRunFilter(context)
    ? 'no run matches; `rota runs` lists all of them'
    : 'no runs yet; `rota run <job>` starts one'
}

async function watch(context: Context<App>, watched: Listed & { signal: AbortSignal }): Promise<void> {
  const { reader, filter, found, signal } = watched
  const seen = new Map(found.map((run) => [run.id, stageOf(run)]))
  // Ends when the reader of the output has left.
  await lookAgain(reader, AbortSignal.any([signal, context.out.stdout.broken]), async () => {
    for (const run of (await (await reader.store()).runs(upToNow(reader, filter))).toReversed()) {
      if (seen.get(run.id) === stageOf(run)) continue
      seen.set(run.id, stageOf(run))
      await tell(context, reader, run)
    }
    return 'again'
  })
}

function stageOf({ state, attempt }: Run): string {
  return `${state} ${attempt}`
}

async function tell(context: Context<App>, reader: StoreReader, run: Run): Promise<void> {
  const { out } = context
  const times = out.times()
  const details = [run.partition ?? '', times.short(run.dueAt), tookText(run), noteText(run, times)]
  const words = [ofText(run), ...details].filter((word) => word !== '')
  const id = (await shortIdOf(reader, [run.id]))(run.id)
  const room = out.width - id.length - 9 - 4
  const state = out.colors[stateColors[run.state]](run.state.padEnd(9))
  out.show(runView(run), () => out.line(`${id}  ${state}  ${cutToWidth(printable(words.join('  ')), room)}`))
}
