import { isFinal, type Run } from '../../kernel/run/run.js'
import type { StoredLogLine } from '../../store/port.js'
import { takesWork } from '../../app/control/workers.js'
import type { App } from '../../app/rota.js'
import { printable } from '../../text/printable.js'
import { systemClock } from '../../time/clock.js'
import { detachOption, type Ended, exitCodes, type Surroundings } from '../framework/command.js'
import type { Output } from '../framework/print/output.js'
import { untilSignal } from '../framework/until-signal.js'
import { shortIdOf } from '../host/short-id-of.js'
import { stateColors, tookText } from './runs-table.js'
import { runView } from '../../wire/views/runs.js'

/** Waits between two looks; a hint of the store ends the wait early. */
const lookAgainMs = 500

/** Repeats a function soon after every change of the store, until it returns that it is done. */
export async function lookAgain(
  app: App,
  signal: AbortSignal,
  look: () => Promise<'again' | 'over'>,
): Promise<void> {
  let hinted = new AbortController()
  const store = await app.store()
  const unwatch = store.watch(() => hinted.abort())
  try {
    while (!signal.aborted && (await look()) === 'again') {
      await systemClock.sleep(lookAgainMs, AbortSignal.any([signal, hinted.signal]))
      hinted = new AbortController()
    }
  } finally {
    unwatch()
  }
}

/** Passes on new lines of a run until it is final; returns the final run. */
export async function followRun(input: {
  readonly app: App
  readonly id: string
  readonly signal: AbortSignal
  readonly onLine: (line: StoredLogLine) => void
}): Promise<Run> {
  const { app, id, signal, onLine } = input
  let run = await app.runs.get(id)
  let after = 0
  await lookAgain(app, signal, async () => {
    // Read before the lines, so that all lines up to the final state are included.
    run = await app.runs.get(id)
    for (const line of await linesAfter(app, run.id, after)) {
      onLine(line)
      after = line.seq
    }
    return isFinal(run.state) ? 'over' : 'again'
  })
  return run
}

/** Every line of a run after a sequence number. */
export async function linesAfter(app: App, id: string, after: number): Promise<readonly StoredLogLine[]> {
  const lines: StoredLogLine[] = []
  for (;;) {
    const page = await app.runs.logs(id, { after: lines.at(-1)?.seq ?? after })
    if (page.length === 0) return lines
    lines.push(...page)
  }
}

/** Prints one log line of a run, with its time, in the colour of its level. */
export function printLogLine(out: Output, line: StoredLogLine): void {
  const { seq, attempt, at, level, text } = line
  out.show({ seq, attempt, at, level, text }, () => {
    const { dim, red, yellow } = out.colors
    const paint = level === 'error' ? red : level === 'warn' ? yellow : (shown: string) => shown
    out.line(`${dim(out.times().clock(at))}  ${paint(printable(text))}`)
  })
}

/** Prints the log of a run until it ends, with `--detach` only its id; returns the exit code for its end. */
export async function followToEnd({ args, out }: Surroundings, app: App, id: string): Ended {
  if (args.flag(detachOption.name)) return out.show({ id }, () => out.line(id))
  const now = app.now()
  const workers = await (await app.store()).workers()
  if (!workers.some((worker) => takesWork(worker, now)))
    out.note('no worker is running; start one with `rota up` (Ctrl-C stops waiting for it)')
  return await untilSignal(async (signal) => {
    if (!out.isJson) out.line(out.colors.dim(`run ${id}`))
    const onLine = (line: StoredLogLine): void => (out.isJson ? undefined : printLogLine(out, line))
    const ended = await followRun({ app, id, signal, onLine })
    if (signal.aborted) {
      const shortId = await shortIdOf(app, [id])
      out.note(`run ${id} continues; \`rota logs ${shortId(id)} --follow\` shows its log`)
    } else out.show(runView(ended), () => out.line(endText(out, ended)))
    return ended.state === 'done' ? exitCodes.ok : exitCodes.failed
  })
}

function endText({ colors }: Output, ended: Run): string {
  const took = tookText(ended)
  const why = ended.state === 'done' ? undefined : (ended.reason ?? ended.error?.message)
  const state = colors[stateColors[ended.state]](ended.state)
  const tries = ended.attempt > 1 ? `, ${ended.attempt} attempts` : ''
  return `${state}${took === '' ? '' : ` in ${took}`}${tries}${why === undefined ? '' : `: ${printable(why)}`}`
}
