import { isFinal, type Run } from '../../kernel/run/run.js'
import type { Store, StoredLogLine } from '../../store/port.js'
import { takesWork } from '../../app/control/workers.js'
import { findRun } from '../../app/runs/runs.js'
import type { StoreReader } from '../../app/store/store-reader.js'
import { printable } from '../../text/printable.js'
import { detachOption, type Ended, exitCodes, type Surroundings } from '../framework/command.js'
import type { Output } from '../framework/print/output.js'
import { untilSignal } from '../framework/until-signal.js'
import { shortIdOf } from '../host/short-id-of.js'
import { lookAgain } from './look-again.js'
import { stateColors, tookText } from './runs-table.js'
import { runView } from '../../wire/views/runs.js'

/** Passes on new lines of a run until it is final; returns the final run. */
export async function followRun(input: {
  readonly reader: StoreReader
  readonly id: string
  readonly signal: AbortSignal
  readonly onLine: (line: StoredLogLine) => void
}): Promise<Run> {
  const { reader, id, signal, onLine } = input
  const store = await reader.store()
  let run = await findRun(store, id)
  let after = 0
  await lookAgain(reader, signal, async () => {
    // Read before the lines, so that all lines up to the final state are included.
    run = await findRun(store, id)
    for (const line of await linesAfter(store, run.id, after)) {
      onLine(line)
      after = line.seq
    }
    return isFinal(run.state) ? 'over' : 'again'
  })
  return run
}

/** How many lines are read at once. */
const mostLines = 1000

/** Every line of a run after a sequence number. */
export async function linesAfter(store: Store, id: string, after: number): Promise<readonly StoredLogLine[]> {
  const lines: StoredLogLine[] = []
  for (;;) {
    const page = await store.logs({ run: id, after: lines.at(-1)?.seq ?? after, limit: mostLines })
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
export async function followToEnd({ args, out }: Surroundings, reader: StoreReader, id: string): Ended {
  if (args.flag(detachOption.name)) return out.show({ id }, () => out.line(id))
  const now = reader.now()
  const workers = await (await reader.store()).workers()
  if (!workers.some((worker) => takesWork(worker, now)))
    out.note('no worker is running; start one with `rota up` (Ctrl-C stops waiting for it)')
  return await untilSignal(async (signal) => {
    if (!out.isJson) out.line(out.colors.dim(`run ${id}`))
    const onLine = (line: StoredLogLine): void => (out.isJson ? undefined : printLogLine(out, line))
    const ended = await followRun({ reader, id, signal, onLine })
    if (signal.aborted) {
      const shortId = await shortIdOf(reader, [id])
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
