#!/usr/bin/env node
import type { PrintStreams } from './output.js'
import { PrintStream } from './print-stream.js'
import { runCommandLine } from './run-command-line.js'

const streams = { stdout: new PrintStream(process.stdout), stderr: new PrintStream(process.stderr) }
sayIfBroken(streams)
// The SDK behind an S3 sensor tells everybody on every start which Node it would rather have.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
process.exitCode = await runCommandLine(process.argv.slice(2), {
  streams,
  environment: process.env,
  directory: process.cwd(),
})

/** A reader that has left early, such as `head`, needs no word; everything else is trouble that somebody should see. */
function sayIfBroken({ stdout, stderr }: PrintStreams): void {
  stdout.broken.addEventListener('abort', () => {
    if (stdout.failure === undefined) return
    stderr.write(`warning: standard output cannot be written: ${stdout.failure.message}\n`)
  })
}
