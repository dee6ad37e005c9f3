import type { Ended } from './command.js'

/** Calls a function that a signal can end, with the exit code of that signal. A second signal ends the process. */
export async function untilSignal(
  act: (signal: AbortSignal) => Ended,
  beforeExit: () => void = () => undefined,
): Ended {
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
