import { parseWindow } from '../../app/moment.js'
import type { Explanation, Run, Why } from '../../app/nouns.js'
import { printable } from '../../app/text.js'
import { formatInstant, type Instant } from '../../app/times.js'
import { type Command, type Context, exitCodes, storeOptions, zoneOption } from '../command.js'
import { reasonText } from '../in-words.js'
import { noteText, tookText } from '../runs-table.js'
import { shortIdOf, type ShortId } from '../short-id-of.js'
import type { TimeText } from '../time-text.js'
import { hereOf, timesOf } from '../times-of.js'
import { whyView } from '../views.js'
import { withApp } from '../with-app.js'

/** `rota why`: explains what became of due instants. */
export const why: Command = {
  name: 'why',
  about:
    'Tells what became of every due instant of a trigger in a stretch of time: the run it became, or the recorded reason why there is none; of more than 200 the newest up to now. A time without an offset is read in --zone.',
  arguments: [
    { name: 'trigger', help: 'the trigger', completes: 'trigger' },
    {
      name: 'time',
      help: 'an instant, a day (today, yesterday, 2026-01-05), the last -2h, or a range A..B; default the last -24h',
      isOptional: true,
    },
  ],
  options: [zoneOption, ...storeOptions],
  examples: [
    { line: 'rota why nightly yesterday', meaning: 'did it run, and if not, why' },
    { line: 'rota why nightly 2026-01-05T02:00 --zone America/New_York', meaning: 'one instant' },
    { line: 'rota why ping -2h', meaning: 'the last two hours' },
    { line: 'rota why ping 2026-01-05..2026-01-07', meaning: 'three days' },
  ],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out } = context
      const { fromAt, untilAt } = parseWindow(args.optionalWord(1) ?? '-24h', hereOf(context))
      const answer = await app.why(args.word(0), { from: new Date(fromAt), until: new Date(untilAt) })
      if (args.flag('json')) out.json(whyView(answer))
      else print(context, answer, await shortIdOf(app, idsIn(answer)))
      return exitCodes.ok
    }),
}

/** The ids of all runs that an answer names. */
function idsIn({ explanations, beside }: Why): string[] {
  const named = explanations.map((one) => (one.kind === 'run' ? one.run.id : idOfBlocker(one)))
  return [...named.flatMap((id) => id ?? []), ...beside.map(({ id }) => id)]
}

function idOfBlocker(explanation: Explanation): string | undefined {
  return explanation.kind === 'range' ? explanation.range.blocker : undefined
}

function print(context: Context, answer: Why, shortId: ShortId): void {
  const { out } = context
  const times = timesOf(context)
  const { fromAt, untilAt } = answer
  const stretch = fromAt === untilAt ? times.exact(fromAt) : `${times.full(fromAt)} to ${times.full(untilAt)}`
  out.line(`${out.colors.bold(answer.trigger)}  ${stretch} (${times.zone})`)
  if (answer.earlier > 0) {
    const isAll = answer.earlier < mostCounted
    out.line(`  … ${isAll ? '' : 'at least '}${answer.earlier} earlier; the newest of them:`)
    out.line(`    ${earlierCommand(answer)}`)
  }
  for (const explanation of answer.explanations)
    out.line(`  ${printable(explanationText(explanation, { times, shortId }))}`)
  if (answer.more && answer.earlier === 0) out.line('  … and more to come; a shorter stretch shows them')
  for (const run of answer.beside) {
    out.line(
      `  beside it: run ${shortId(run.id)}${serviceText(run)} made by ${run.origin} at ${times.full(run.dueAt)}, ${run.state}`,
    )
  }
}

/** They are counted up to here. */
const mostCounted = 10_000

/** The command line that shows what was left out, up to what is shown. */
function earlierCommand({ trigger, fromAt, explanations: [first] }: Why): string {
  const since = formatInstant(Math.floor(fromAt / 1000) * 1000)
  const until = formatInstant(first === undefined ? fromAt : firstInstant(first))
  return `rota why ${trigger} ${since}..${until}`
}

function firstInstant(explanation: Explanation): Instant {
  return explanation.kind === 'range' ? explanation.range.firstAt : explanation.at
}

/** Of the runs of a round, which service it is. */
function serviceText({ origin, job }: Run): string {
  return origin === 'round' ? ` of ${job}` : ''
}

interface Words {
  readonly times: TimeText
  readonly shortId: ShortId
}

function explanationText(explanation: Explanation, words: Words): string {
  const { times, shortId } = words
  switch (explanation.kind) {
    case 'run':
      return runText(explanation, words)
    case 'range': {
      const { range } = explanation
      const until = range.firstAt === range.lastAt ? '' : ` to ${times.full(range.lastAt)}`
      return `${times.full(range.firstAt)}${until}  ${reasonText(range, shortId)}`
    }
    case 'waiting':
      return `${times.full(explanation.at)}  due, and not planned yet: ${waitingText(explanation)}`
    case 'future':
      return `${times.full(explanation.at)}  still to come, ${times.distance(explanation.at)}`
    case 'not-due':
      return notDueText(explanation, times)
    case 'not-defined':
      return notDefinedText(explanation, times)
    case 'unexplained':
      return `${times.full(explanation.at)}  UNEXPLAINED: due, and nothing is recorded; see \`rota doctor\``
  }
}

function runText({ at, run }: Extract<Explanation, { kind: 'run' }>, { times, shortId }: Words): string {
  const took = tookText(run)
  const tries = run.attempt > 1 ? `, ${run.attempt} attempts` : ''
  const note = noteText(run, times)
  const told = note === '' ? '' : ` (${note})`
  return `${times.full(at)}  run ${shortId(run.id)}: ${run.state}${took === '' ? '' : ` in ${took}`}${tries}${told}`
}

function waitingText({ hold }: Extract<Explanation, { kind: 'waiting' }>): string {
  if (hold === undefined) return 'no engine plans it; `rota up` starts one'
  return `${hold.target} is held by ${hold.actor}${hold.note === '' ? '' : `: ${hold.note}`}`
}

function notDueText({ before, after }: Extract<Explanation, { kind: 'not-due' }>, times: TimeText): string {
  const near = [
    ...(before === undefined ? [] : [`before: ${times.full(before)}`]),
    ...(after === undefined ? [] : [`after: ${times.full(after)}`]),
  ]
  return `not due then${near.length === 0 ? '' : `; ${near.join(', ')}`}`
}

function notDefinedText(
  { definedAt, endedAt }: Extract<Explanation, { kind: 'not-defined' }>,
  times: TimeText,
): string {
  if (endedAt !== undefined) return `not in force then; it ended ${times.full(endedAt)}`
  return definedAt === undefined
    ? 'not in force then'
    : `not defined yet then; it was ${times.full(definedAt)}`
}
