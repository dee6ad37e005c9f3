#!/usr/bin/env node
import type { PrintStreams } from './framework/print/output.js'
import { PrintStream } from './framework/print/print-stream.js'
import { program } from './commands.js'
import { runCommandLine } from './framework/run-command-line.js'

const streams = { stdout: new PrintStream(process.stdout), stderr: new PrintStream(process.stderr) }
sayIfBroken(streams)
// The SDK behind an S3 sensor tells everybody on every start which Node it would rather have.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
process.exitCode = await runCommandLine(program, process.argv.slice(2), {
  streams,
  environment: process.env,
  directory: process.cwd(),
})
await end(process.argv[2])

/** A reader that has left early, such as `head`, needs no word; everything else is trouble that somebody should see. */
function sayIfBroken({ stdout, stderr }: PrintStreams): void {
  stdout.broken.addEventListener('abort', () => {
    if (stdout.failure === undefined) return
    stderr.write(`warning: standard output cannot be written: ${stdout.failure.message}\n`)
  })
}

/** Ends the process: timers and connections that code of the user left behind must not keep it. */
async function end(command: string | undefined): Promise<void> {
  // What the engine prints is only its log, and one that nobody reads must not keep it either.
  const late = command === 'up' ? await signalAfter(2000) : undefined
  await Promise.all([streams.stdout.settled(late), streams.stderr.settled(late)])
  if (command !== 'work') process.exit()
  // What the functions of a pipeline left behind may still fail, which is reported.
  const over = await signalAfter(2000)
  over.addEventListener('abort', () => process.exit())
}

/** Aborts after so long; does not keep the process. */
async function signalAfter(ms: number): Promise<AbortSignal> {
  const { systemClock } = await import('../time/clock.js')
  const over = new AbortController()
  systemClock.timer(ms, () => over.abort(), { isIdle: true })
  return over.signal
}
