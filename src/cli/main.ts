#!/usr/bin/env node
import type { PrintStreams } from './framework/print/output.js'
import { PrintStream } from './framework/print/print-stream.js'
import { program } from './commands.js'
import { runCommandLine } from './framework/run-command-line.js'

const streams = { stdout: new PrintStream(process.stdout), stderr: new PrintStream(process.stderr) }
sayIfBroken(streams)
// Turns off a warning of the SDK of S3 sensors about the version of Node, which it prints at every start.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
process.exitCode = await runCommandLine(program, process.argv.slice(2), {
  streams,
  environment: process.env,
  directory: process.cwd(),
})
await end(process.argv[2])

/** Warns if standard output failed. A reader that left early, such as `head`, needs no warning. */
function sayIfBroken({ stdout, stderr }: PrintStreams): void {
  stdout.broken.addEventListener('abort', () => {
    if (stdout.failure === undefined) return
    stderr.write(`warning: standard output cannot be written: ${stdout.failure.message}\n`)
  })
}

/** Ends the process: timers and connections that user code left behind must not keep it alive. */
async function end(command: string | undefined): Promise<void> {
  // The output of the engine is only its log; a reader that does not read must not keep the process alive.
  const late = command === 'up' ? await signalAfter(2000) : undefined
  await Promise.all([streams.stdout.settled(late), streams.stderr.settled(late)])
  if (command !== 'work') process.exit()
  // Code that the functions of a pipeline left behind may still fail, which is reported.
  const over = await signalAfter(2000)
  over.addEventListener('abort', () => process.exit())
}

/** Aborts after `ms`; does not keep the process alive. */
async function signalAfter(ms: number): Promise<AbortSignal> {
  const { systemClock } = await import('../time/clock.js')
  const over = new AbortController()
  systemClock.timer(ms, () => over.abort(), { isIdle: true })
  return over.signal
}
