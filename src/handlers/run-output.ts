import type { Readable } from 'node:stream'
import type { LogLine } from '../kernel/run/run.js'
import type { HandlerContext } from './handler-context.js'
import { OutputBudget, OutputLines } from './output-lines.js'

/** Writes both output streams of a command, thread or process to the log of its run. */
export class RunOutput {
  readonly stdout: OutputLines
  readonly stderr: OutputLines
  readonly #budget = new OutputBudget()
  readonly #log: HandlerContext['log']

  constructor(context: Pick<HandlerContext, 'log'>) {
    this.#log = (level, text) => context.log(level, text)
    const keepAs = (level: LogLine['level']) => (line: string) => this.#log(level, line)
    this.stdout = new OutputLines(this.#budget, keepAs('info'))
    // Not `error`: programs also write progress to stderr.
    this.stderr = new OutputLines(this.#budget, keepAs('warn'))
  }

  follow(from: { readonly stdout: Readable; readonly stderr: Readable }): void {
    from.stdout.on('data', (chunk: Buffer) => this.stdout.write(chunk))
    from.stderr.on('data', (chunk: Buffer) => this.stderr.write(chunk))
  }

  end(): void {
    this.stdout.end()
    this.stderr.end()
    if (this.#budget.dropped > 0)
      this.#log('warn', `output was cut: ${this.#budget.dropped} bytes were dropped`)
  }
}
