import type { App } from '../../../app/rota.js'
import { describe } from '../../../app/explain/describe.js'
import { preview, type Preview, type PreviewedOccurrence } from '../../../app/explain/preview.js'
import type { ExcludedInstants, TriggerPreview } from '../../../app/explain/preview-trigger.js'
import { formatInstant, type Instant } from '../../../time/instant.js'
import { systemClock } from '../../../time/clock.js'
import { type Command, type Context, type Ended, exitCodes, storeOptions } from '../../framework/command.js'
import type { Option } from '../../framework/syntax.js'
import { readAs } from '../../framework/option-names.js'
import { printTable } from '../../framework/print/table.js'
import { distanceText } from '../../framework/print/time-text.js'
import { wrap } from '../../framework/print/wrap.js'

const policies = ['vixie', 'skip', 'real-time'] as const

const options: readonly Option[] = [
  { name: 'zone', value: 'zone', help: 'the IANA zone the expression is read in; default: UTC' },
  { name: 'from', value: 'time', help: 'show instants after this time; default: now' },
  { name: 'count', short: 'n', value: 'n', help: 'how many; default: 5', whole: [1, 10_000] },
  { name: 'dst', value: 'policy', help: 'what happens at clock changes; default: vixie', choices: policies },
  ...storeOptions,
]

/** `rota next`: shows when an expression is due. */
export const next: Command<App> = {
  name: 'next',
  about:
    'Shows the next instants of a cron expression in its zone and in UTC, and marks those that a clock change moved, added or dropped. With the name of a trigger, it shows when the trigger is due, in its zone, and what its calendars and blackouts exclude. Five fields; six with seconds first; seven with the year last.',
  arguments: [
    {
      name: 'expression',
      help: 'a cron expression in quotes, a name such as @daily, or a trigger',
      quoted: "'0 9 * * *'",
    },
  ],
  options,
  examples: {
    "rota next '0 9 * * MON-FRI' --zone America/New_York": 'the next five',
    "rota next '30 2 * * *' --zone Europe/Berlin --from 2026-03-28 -n 3": 'what daylight saving does to it',
    'rota next nightly': 'a trigger, with its calendars',
    "rota next '*/10 * * * * *' --json": 'for a program',
  },
  run: async (context) => {
    const { args, out } = context
    const now = systemClock.now()
    const zone = args.text('zone') ?? 'UTC'
    const from = await fromOf(args.text('from'), { zone, now })
    const expression = args.word(0)
    const dst = policies.find((policy) => policy === args.text('dst'))
    const count = args.whole('count') ?? 5
    if (isName(expression)) return await showTrigger(context, expression, { from, count })
    const found = readAs('<expression>', () => preview({ expression, timezone: zone, dst, from, count }))
    const words = describe(expression)
    const isNever = found.occurrences.length === 0 && isNeverDue(found)
    out.show(view(found, { from, words }), () => print(context, found, { from, now, words, isNever }))
    return isNever ? exitCodes.failed : exitCodes.ok
  },
}

/** Whether a word can only be the name of a trigger. */
function isName(word: string): boolean {
  return /^[^\s@]\S*$/.test(word)
}

/** Shows when a trigger is due. */
async function showTrigger(
  context: Context<App>,
  name: string,
  { from, count }: { from: Instant; count: number },
): Ended {
  return await context.withApp(async (app) => {
    const { trigger } = await app.triggers.get(name)
    const { previewTrigger } = await import('../../../app/explain/preview-trigger.js')
    const found = previewTrigger(trigger.schedule, { from, count })
    context.out.show({ trigger: name, from: formatInstant(from), ...found }, () =>
      printTrigger(context, name, found),
    )
    return exitCodes.ok
  })
}

function printTrigger({ out }: Context<App>, name: string, found: TriggerPreview): void {
  const { timezone, occurrences, excluded, changes } = found
  out.line(out.colors.bold(`${name} (${timezone})`))
  out.line()
  if (occurrences.length === 0) out.line('no due instants can be computed')
  const now = systemClock.now()
  const rows = [
    ...occurrences.map((one) => ({ at: one.at, line: occurrenceLine(one, now) })),
    ...excluded.map((one) => ({ at: one.firstAt, line: excludedLine(one) })),
  ]
  const lines = rows.toSorted((a, b) => a.at - b.at).map(({ line }) => line)
  if (lines.length > 0) printLines(out, timezone, lines)
  for (const change of changes) out.line(out.colors.yellow(changeText(change)))
}

function excludedLine({ firstLocal, count, reason, detail }: ExcludedInstants): Line {
  const many = count === 1 ? '' : `, ${count} in a row`
  return {
    local: dayAndTime(firstLocal),
    utc: '-',
    when: '',
    mark: `${reason}${detail === '' ? '' : ` ${detail}`}${many}`,
  }
}

/** Whether there is no instant at all, not only none in the future. */
function isNeverDue({ expression, timezone, dst }: Preview): boolean {
  return preview({ expression, timezone, dst, from: 0, count: 1 }).occurrences.length === 0
}

async function fromOf(text: string | undefined, here: { zone: string; now: Instant }): Promise<Instant> {
  if (text === undefined) return here.now
  const { parseMoment } = await import('../../../time/moment.js')
  return readAs('--from', () => parseMoment(text, { ...here, bare: 'ahead' }))
}

function view(found: Preview, { from, words }: { from: Instant; words: string }): unknown {
  const { expression, timezone, dst, changes } = found
  const occurrences = found.occurrences.map(({ at, local, change }) => ({ at, local, change }))
  return { expression, description: words, timezone, dst, from: formatInstant(from), occurrences, changes }
}

/** A line of the table: an occurrence, or a time that has none because clocks changed. */
interface Line {
  readonly local: string
  readonly utc: string
  readonly when: string
  readonly mark: string
}

type Change = Preview['changes'][number]

function print(
  { out }: Context<App>,
  found: Preview,
  shown: { from: Instant; now: Instant; words: string; isNever: boolean },
): void {
  const { expression, timezone, dst } = found
  const policy = dst === 'vixie' ? '' : `, dst ${dst}`
  for (const line of wrap(`${shown.words} (${expression} in ${timezone}${policy})`, out.width)) {
    out.line(out.colors.bold(line))
  }
  out.line()
  if (found.occurrences.length === 0) {
    const never = 'it is never due: no such day exists; a trigger with it is refused'
    out.line(shown.isNever ? never : `never again after ${formatInstant(shown.from)}`)
    return
  }
  const { yellow } = out.colors
  printLines(out, timezone, linesOf(found, shown.now))
  if (found.changes.length > 0) out.line()
  for (const change of found.changes) out.line(yellow(changeText(change)))
}

function printLines(out: Context<App>['out'], timezone: string, lines: readonly Line[]): void {
  printTable(out, lines, [
    { title: timezone, text: (line) => line.local },
    { title: 'UTC', text: (line) => line.utc },
    { title: '', text: (line) => line.when },
    { title: '', text: (line) => line.mark, color: () => 'yellow' },
  ])
}

/** The occurrences and the dropped times, ordered by time. */
function linesOf(found: Preview, now: Instant): Line[] {
  const dropped = found.changes.filter((change) => change.kind === 'dropped')
  const rows = [
    ...found.occurrences.map((one) => ({ at: one.at, line: occurrenceLine(one, now) })),
    ...dropped.map((change) => ({ at: change.changeAt - 0.5, line: droppedLine(change) })),
  ]
  return rows.toSorted((a, b) => a.at - b.at).map(({ line }) => line)
}

function occurrenceLine({ at, local, change }: PreviewedOccurrence, now: Instant): Line {
  const utc = `${formatInstant(at).slice(0, 19).replace('T', ' ')}Z`
  return { local: dayAndTime(local), utc, when: distanceText(at - now), mark: change?.kind ?? '' }
}

function droppedLine({ firstLocal, kind }: Change): Line {
  return { local: dayAndTime(firstLocal), utc: '-', when: '', mark: kind }
}

function changeText({ kind, cause, firstLocal, lastLocal }: Change): string {
  const [day, first] = [firstLocal.slice(0, 10), firstLocal.slice(11)]
  const times = firstLocal === lastLocal ? first : `${first} to ${lastLocal.slice(11)}`
  const clocks = cause === 'gap' ? `clocks skip ${times}` : `clocks show ${times} twice`
  switch (kind) {
    case 'moved':
      return `${day}: ${clocks}; it runs once, right after`
    case 'added':
      return `${day}: ${clocks}; it runs both times`
    case 'dropped':
      return `${day}: ${clocks}; it ${cause === 'gap' ? 'does not run' : 'runs the first time only'}`
  }
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** `Sun 2026-03-29 03:00:00 +02:00` from a local time with or without its offset. */
function dayAndTime(local: string): string {
  const day = weekdays[new Date(`${local.slice(0, 10)}T00:00:00Z`).getUTCDay()]
  return `${day} ${local.slice(0, 10)} ${local.slice(11, 19)} ${local.slice(19)}`.trimEnd()
}
