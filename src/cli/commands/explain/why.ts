import { parseWindow } from '../../../time/moment.js'
import { heldText, releaseOf } from '../../../app/explain/pending-text.js'
import type { App } from '../../../app/rota.js'
import type { Feature } from '../../../features/feature.js'
import { findFeatures } from '../../../features/find-features.js'
import type { Explanation, Why } from '../../../engine/explain/why.js'
import type { Run } from '../../../kernel/run/run.js'
import { printable } from '../../../text/printable.js'
import { formatInstant, type Instant } from '../../../time/instant.js'
import { type Command, type Context, onApp, storeOptions, zoneOption } from '../../framework/command.js'
import { reasonText } from '../../views/ledger-reason-text.js'
import { readAs } from '../../framework/option-names.js'
import { type Pending, pendingOf } from '../../views/pending-of.js'
import type { Output } from '../../framework/print/output.js'
import type { TimeText } from '../../framework/print/time-text.js'
import { hereOf } from '../../framework/times-of.js'
import { whyView } from '../../../wire/views/why.js'
import { meantBy, slaText, standText, whyJob, whyRun } from '../../views/why-run.js'
import { printWrapped } from '../../framework/print/wrap.js'

/** `rota why`: explains due instants. */
export const why: Command<App> = {
  name: 'why',
  about:
    'Explains every due instant of a trigger in a period: the run it became, or the recorded reason why there is none (at most 200, the newest). For a job it explains its runs, for a run its state, and for a pending run what it waits for. A time without an offset is read in --zone.',
  arguments: [
    { name: 'name', help: 'a trigger, a job, or the beginning of a run’s id', completes: 'trigger' },
    {
      name: 'time',
      help: 'an instant, a day (today, yesterday, 2026-01-05), the last -2h, or a range A..B; default: the last -24h',
      isOptional: true,
    },
  ],
  options: [zoneOption, ...storeOptions],
  examples: {
    'rota why nightly yesterday': 'did it run, and if not, why',
    'rota why nightly 2026-01-05T02:00 --zone America/New_York': 'one instant',
    'rota why ping -2h': 'the last two hours',
    'rota why ping 2026-01-05..2026-01-07': 'three days',
    'rota why 01k9w8m2v4': 'what a run waits for, or how it ended',
  },
  run: onApp(async (app, context) => {
    const { args } = context
    const name = args.word(0)
    const { fromAt, untilAt } = readAs('<time>', () =>
      parseWindow(args.optionalWord(1) ?? '-24h', hereOf(context)),
    )
    const meant = await meantBy(app, name)
    if (meant.kind === 'run') return await whyRun(context, app, meant.run)
    if (meant.kind === 'job') return await whyJob(context, app, { job: name, fromAt, untilAt })
    return await whyTrigger(context, app, { trigger: name, fromAt, untilAt })
  }),
}

async function whyTrigger(
  context: Context<App>,
  app: App,
  { trigger, fromAt, untilAt }: { trigger: string; fromAt: Instant; untilAt: Instant },
): Promise<void> {
  const { out } = context
  const answer = await app.why(trigger, { from: new Date(fromAt), until: new Date(untilAt) })
  const runs = answer.explanations.flatMap((one) => (one.kind === 'run' ? [one.run] : []))
  const blockers = answer.explanations.flatMap((one) =>
    one.kind === 'range' ? (one.range.blocker ?? []) : [],
  )
  const pending = await pendingOf(app, [...runs, ...answer.beside], blockers)
  const todo = await missedEntry(context, app, answer)
  const data = { ...whyView(answer, pending.views), ...(todo === undefined ? {} : { todo }) }
  out.show(data, () => print(out, answer, { times: out.times(), pending, todo }))
}

/** The command that enqueues a missed entry of a plan; undefined if it was enqueued. */
async function missedEntry(context: Context<App>, app: App, answer: Why): Promise<string | undefined> {
  const { explanations, beside, trigger } = answer
  const isMissed = explanations.some((one) => one.kind === 'range' && one.range.reason === 'missed')
  if (!isMissed || beside.length > 0) return undefined
  const features: readonly Feature[] = findFeatures()
  for (const { missedCommand } of features) {
    const command = await missedCommand?.(context, app, trigger)
    if (command !== undefined) return command
  }
  return undefined
}

function print(out: Output, answer: Why, words: Words & { todo: string | undefined }): void {
  const { times, pending, todo } = words
  const { fromAt, untilAt } = answer
  const stretch = fromAt === untilAt ? times.exact(fromAt) : `${times.full(fromAt)} to ${times.full(untilAt)}`
  out.line(`${out.colors.bold(answer.trigger)}  ${stretch} (${times.zone})`)
  if (answer.earlier > 0) {
    const isAll = answer.earlier < mostCounted
    out.line(`  … ${isAll ? '' : 'at least '}${answer.earlier} earlier; the newest of them:`)
    out.line(`    ${earlierCommand(answer)}`)
  }
  const tell = (text: string): void => printWrapped(out, printable(text), { indent: 2, hanging: 4 })
  for (const explanation of answer.explanations) tell(explanationText(explanation, words))
  for (const breach of answer.breaches) tell(slaText(breach, times))
  const start = startText(answer, times)
  if (start !== undefined) tell(start)
  if (todo !== undefined) tell(`\`${todo}\` enqueues it`)
  if (answer.more && answer.earlier === 0) out.line('  … and more; a shorter period shows them')
  for (const run of answer.beside) {
    const { origin, job, labels } = run
    const state = `${run.state}${waitingText(run, words)}`
    const which = `run ${pending.shortId(run.id)}${origin === 'round' ? ` of ${job}` : ''}`
    const by = origin === 'backfill' ? `backfill ${labels?.['backfill'] ?? ''} for` : `${origin} at`
    tell(`in addition: ${which} made by ${by} ${times.full(run.dueAt)}, ${state}`)
  }
}

/** Earlier instants are counted up to this number. */
const mostCounted = 10_000

/** The command line that shows the instants before the shown ones. */
function earlierCommand({ trigger, fromAt, explanations: [first] }: Why): string {
  const since = formatInstant(Math.floor(fromAt / 1000) * 1000)
  const until = formatInstant(first === undefined ? fromAt : firstInstant(first))
  return `rota why ${trigger} ${since}..${until}`
}

function firstInstant(explanation: Explanation): Instant {
  return explanation.kind === 'range' ? explanation.range.firstAt : explanation.at
}

interface Words {
  readonly times: TimeText
  readonly pending: Pending
}

function explanationText(explanation: Explanation, words: Words): string {
  const { times, pending } = words
  switch (explanation.kind) {
    case 'run': {
      const { at, run } = explanation
      const id = pending.shortId(run.id)
      return `${times.full(at)}  run ${id}: ${standText(run, times)}${waitingText(run, words)}`
    }
    case 'range': {
      const { range } = explanation
      const until = range.firstAt === range.lastAt ? '' : ` to ${times.full(range.lastAt)}`
      return `${times.full(range.firstAt)}${until}  ${reasonText(range, pending.shortId)}${signText(explanation, times)}`
    }
    case 'held':
      return holdText(explanation, times)
    case 'excluded': {
      const { at, lastAt, by } = explanation
      return `${times.full(at)}${at === lastAt ? '' : ` to ${times.full(lastAt)}`}  will not run: ${reasonText(by)}`
    }
    case 'waiting':
      return `${times.full(explanation.at)}  due, and not planned yet: ${unplannedText(explanation)}`
    case 'future':
      return `${times.full(explanation.at)}  in the future, ${times.distance(explanation.at)}`
    case 'not-due':
      return notDueText(explanation, times)
    case 'not-defined':
      return notDefinedText(explanation, times)
    case 'unexplained':
      return `${times.full(explanation.at)}  UNEXPLAINED: due, and nothing is recorded; see \`rota doctor\``
  }
}

/** What a pending run waits for. */
function waitingText(run: Run, { times, pending }: Words): string {
  const lines = pending.lines(run, times)
  return lines.length === 0 ? '' : `; ${lines.join('; ')}`
}

/** Since when nothing was running. */
function signText({ lastSignAt }: { readonly lastSignAt?: Instant | undefined }, times: TimeText): string {
  return lastSignAt === undefined ? '' : `; last sign of life ${times.full(lastSignAt)}`
}

function unplannedText({ hold }: Extract<Explanation, { kind: 'waiting' }>): string {
  if (hold === undefined) return 'nothing is running'
  return `${hold.target} is held by ${hold.actor}${hold.note === '' ? '' : `: ${hold.note}`}`
}

/** Printed once, however many instants wait. */
function startText({ explanations }: Why, times: TimeText): string | undefined {
  const waiting = explanations.find((one) => one.kind === 'waiting' && one.hold === undefined)
  if (waiting?.kind !== 'waiting') return undefined
  return `\`rota up\` starts an engine that plans them${signText(waiting, times)}`
}

function holdText({ at, lastAt, hold }: Extract<Explanation, { kind: 'held' }>, times: TimeText): string {
  const until = at === lastAt ? '' : ` to ${times.full(lastAt)}`
  const since = `since ${times.full(hold.fromAt)} by ${hold.actor}`
  const note = hold.note === '' ? '' : ` (${hold.note})`
  return `${times.full(at)}${until}  ${heldText(hold)} ${since}${note}; ${releaseOf(hold.target)}`
}

function notDueText(
  { beforeAt, afterAt }: Extract<Explanation, { kind: 'not-due' }>,
  times: TimeText,
): string {
  const near = Object.entries({ before: beforeAt, after: afterAt }).flatMap(([side, at]) =>
    at === undefined ? [] : [`${side}: ${times.full(at)}`],
  )
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
