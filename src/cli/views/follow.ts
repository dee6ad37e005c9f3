import { isFinal, type Run } from '../../kernel/run/run.js'
import type { StoredLogLine } from '../../store/port.js'
import type { Rota } from '../../app/rota.js'
import { systemClock } from '../../time/clock.js'

/** Waits between two looks; a hint of the store ends the wait early. */
const lookAgainMs = 500

/** Does something again and again, soon after every change of the store, until it says that it is over. */
export async function lookAgain(
  app: Rota,
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

/** Hands over the lines of a run as they come, until it is final; gives the run as it is in the end. */
export async function followRun(input: {
  readonly app: Rota
  readonly id: string
  readonly signal: AbortSignal
  readonly onLine: (line: StoredLogLine) => void
}): Promise<Run> {
  const { app, id, signal, onLine } = input
  let run = await app.runs.get(id)
  let after = 0
  await lookAgain(app, signal, async () => {
    // The run before its lines: what it wrote before it became final is then among them.
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
export async function linesAfter(app: Rota, id: string, after: number): Promise<readonly StoredLogLine[]> {
  const lines: StoredLogLine[] = []
  for (;;) {
    const page = await app.runs.logs(id, { after: lines.at(-1)?.seq ?? after })
    if (page.length === 0) return lines
    lines.push(...page)
  }
}

/** Does something that a signal ends early; its exit code then tells which. A second signal ends the process. */
export async function untilSignal(
  act: (signal: AbortSignal) => Promise<number>,
  beforeExit: () => void = () => undefined,
): Promise<number> {
  const controller = new AbortController()
  const onSignal = (_: NodeJS.Signals, number: number): void => {
    if (controller.signal.aborted) {
      beforeExit()
      process.exit(128 + number)
    }
    controller.abort(128 + number)
  }
  for (const name of stopSignals) process.on(name, onSignal)
  try {
    const code = await act(controller.signal)
    return controller.signal.aborted ? (controller.signal.reason as number) : code
  } finally {
    for (const name of stopSignals) process.off(name, onSignal)
  }
}

/** The signals that mean an orderly end. */
export const stopSignals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
