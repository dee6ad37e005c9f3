import { Writable } from 'node:stream'
import { program } from '../../src/cli/commands.js'
import { PrintStream } from '../../src/cli/framework/print/print-stream.js'
import { runCommandLine } from '../../src/cli/framework/run-command-line.js'
import type { Ended } from './rota.js'

/** Where a command line is run, and how wide the terminal is that it writes to, if it is one. */
export interface Place {
  readonly directory: string
  readonly environment?: Readonly<Record<string, string>>
  readonly columns?: number
}

/** Runs a command line in this process: what takes the built program a third of a second takes a few milliseconds. */
export async function runHere(argv: readonly string[], place: Place): Promise<Ended> {
  const { directory, environment = {}, columns } = place
  const written = { stdout: '', stderr: '' }
  const streamOf = (name: 'stdout' | 'stderr'): PrintStream => {
    const stream = new Writable({
      decodeStrings: false,
      write: (chunk: string, _, done) => {
        written[name] += chunk
        done()
      },
    })
    return new PrintStream(
      Object.assign(stream, { isTTY: columns !== undefined, columns }) as unknown as NodeJS.WriteStream,
    )
  }
  const streams = { stdout: streamOf('stdout'), stderr: streamOf('stderr') }
  const code = await runCommandLine(program, argv, { streams, environment, directory })
  await Promise.all([streams.stdout.settled(), streams.stderr.settled()])
  return { code, ...written }
}
