import { describe } from '../../app/describe.js'
import { parseMoment } from '../../app/moment.js'
import { preview, type Preview, type PreviewedOccurrence } from '../../app/preview.js'
import { formatInstant, systemClock, type Instant } from '../../app/times.js'
import { type Command, type Context, exitCodes, jsonOption, type Option } from '../command.js'
import { printTable } from '../table.js'
import { distanceText } from '../time-text.js'

const policies = ['vixie', 'skip', 'real-time'] as const

const options: readonly Option[] = [
  { name: 'zone', value: 'zone', help: 'the IANA zone the expression is read in; default UTC' },
  { name: 'from', value: 'time', help: 'show what comes after it; default now' },
  { name: 'count', short: 'n', value: 'n', help: 'how many; default 5', whole: { min: 1, max: 10_000 } },
  { name: 'dst', value: 'policy', help: 'what happens at clock changes; default vixie', choices: policies },
  jsonOption,
]

/** `rota next`: shows when an expression is due. */
export const next: Command = {
  name: 'next',
  about:
    'Shows the next instants of a cron expression in its zone and in UTC, and marks those that a change of the clocks moved, added or dropped. Five fields; six with seconds first; seven with the year last.',
  arguments: [{ name: 'expression', help: 'a cron expression in quotes, or a name such as @daily' }],
  options,
  examples: [
    { line: "rota next '0 9 * * MON-FRI' --zone America/New_York", meaning: 'the next five' },
    {
      line: "rota next '30 2 * * *' --zone Europe/Berlin --from 2026-03-28 -n 3",
      meaning: 'what daylight saving does to it',
    },
    { line: "rota next '*/10 * * * * *' --json", meaning: 'for a program' },
  ],
  run: async (context) => {
    const { args, out } = context
    const now = systemClock.now()
    const zone = args.text('zone') ?? 'UTC'
    const fromText = args.text('from')
    const from = fromText === undefined ? now : parseMoment(fromText, { zone, now, bare: 'ahead' })
    const expression = args.word(0)
    const dst = policies.find((policy) => policy === args.text('dst'))
    const found = preview({ expression, timezone: zone, dst, from, count: args.whole('count') ?? 5 })
    const words = describe(expression)
    if (args.flag('json')) out.json(view(found, { from, words }))
    else print(context, found, { from, now, words })
    return exitCodes.ok
  },
}

function view(found: Preview, { from, words }: { from: Instant; words: string }): unknown {
  const { expression, timezone, dst } = found
  const changeView = (change: Preview['changes'][number] | undefined): unknown =>
    change === undefined ? null : { ...change, changeAt: formatInstant(change.changeAt) }
  return {
    expression,
    description: words,
    timezone,
    dst,
    from: formatInstant(from),
    occurrences: found.occurrences.map(({ at, local, change }) => ({
      at: formatInstant(at),
      local,
      change: changeView(change),
    })),
    changes: found.changes.map(changeView),
  }
}

/** A line of the table: an occurrence, or a time that has none because clocks changed. */
interface Line {
  readonly local: string
  readonly utc: string
  readonly when: string
  readonly mark: string
}

function print({ out }: Context, found: Preview, told: { from: Instant; now: Instant; words: string }): void {
  const { expression, timezone, dst } = found
  const policy = dst === 'vixie' ? '' : `, dst ${dst}`
  out.line(`${out.colors.bold(told.words)}  (${expression} in ${timezone}${policy})`)
  out.line()
  if (found.occurrences.length === 0) {
    out.line(`never again after ${formatInstant(told.from)}`)
    return
  }
  printTable(out, linesOf(found, told.now), [
    { title: timezone, text: (line) => line.local },
    { title: 'UTC', text: (line) => line.utc },
    { title: '', text: (line) => line.when },
    { title: '', text: (line) => line.mark, shortest: 10, paint: () => out.colors.yellow },
  ])
}

/** The occurrences with the dropped ones between them, in the order of time. */
function linesOf(found: Preview, now: Instant): Line[] {
  const dropped = found.changes.filter((change) => change.kind === 'dropped')
  const rows = [
    ...found.occurrences.map((one) => ({ at: one.at, line: occurrenceLine(one, now) })),
    ...dropped.map((change) => ({ at: change.changeAt - 0.5, line: droppedLine(change) })),
  ]
  return rows.toSorted((a, b) => a.at - b.at).map(({ line }) => line)
}

function occurrenceLine({ at, local, change }: PreviewedOccurrence, now: Instant): Line {
  const when = distanceText(at - now)
  return { local: dayAndTime(local), utc: utcText(at), when, mark: change === undefined ? '' : markOf(change) }
}

function droppedLine(change: Preview['changes'][number]): Line {
  return { local: dayAndTime(change.firstLocal), utc: '-', when: '', mark: markOf(change) }
}

function markOf({ kind, cause, firstLocal, lastLocal }: Preview['changes'][number]): string {
  const [first, last] = [firstLocal.slice(11), lastLocal.slice(11)]
  const times = first === last ? first : `${first} to ${last}`
  switch (kind) {
    case 'moved':
      return `moved: no ${times} that day`
    case 'added':
      return 'added: this hour comes twice'
    case 'dropped':
      return cause === 'gap' ? `dropped: no ${times} that day` : `dropped: ${times} came before`
  }
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** `Sun 2026-03-29 03:00:00 +02:00` from a local time with or without its offset. */
function dayAndTime(local: string): string {
  const day = weekdays[new Date(`${local.slice(0, 10)}T00:00:00Z`).getUTCDay()]
  return `${day} ${local.slice(0, 10)} ${local.slice(11, 19)} ${local.slice(19)}`.trimEnd()
}

function utcText(at: Instant): string {
  return `${formatInstant(at).slice(0, 19).replace('T', ' ')}Z`
}
