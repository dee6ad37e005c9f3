import { toJson } from '../../../wire/to-json.js'
import { messageLines } from './wrap.js'
import { outputWidth, type PrintStream } from './print-stream.js'
import type { TimeText } from './time-text.js'

/** The output of a command: lines for a person or JSON for a program, and notes on standard error. */
export interface Output {
  /** How many columns a table may have. */
  readonly width: number
  readonly colors: Colors
  /** Whether `--json` was given. */
  readonly isJson: boolean
  /** Prints a value: with `--json` as one line of JSON, otherwise as a sentence or by a function. */
  show(value: unknown, text: string | (() => void)): void
  /** Formats times in the requested zone. */
  times(): TimeText
  /** Prints a line of the result. */
  line(text?: string): void
  /** Prints a sentence to standard error, wrapped at words on a terminal. */
  note(text: string): void
  /** Prints what was done, as a sentence, wrapped at words on a terminal. */
  say(text: string): void
  /** Prints one value as one line of JSON. */
  json(value: unknown): void
  /** Prints the progress of long work: one line on standard error that is overwritten; nothing without a terminal. */
  progress(text: string): void
  /** Standard output itself, for callers that must know whether it can be written. */
  readonly stdout: PrintStream
  /** Standard error itself. */
  readonly stderr: PrintStream
}

/** The two standard streams. */
export interface PrintStreams {
  readonly stdout: PrintStream
  readonly stderr: PrintStream
}

/** Functions that colour a text; without colours they change nothing. */
export interface Colors {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
}

/** Colours a text. */
export type Paint = (text: string) => string

const plain: Paint = (text) => text
const noColors: Colors = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain }
/** The options of an output. */
export interface OutputOptions {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly streams: PrintStreams
  readonly isJson: boolean
  /** Whether this is a dry run. */
  readonly isDry?: boolean
  readonly times: () => TimeText
}

/** Opens the output: with colours only on a terminal, and unless they are turned off. */
export async function openOutput(options: OutputOptions): Promise<Output> {
  const { environment, isJson, isDry = false, times } = options
  const { stdout, stderr } = options.streams
  const hasColors =
    stdout.isTerminal && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb'
  const colors = hasColors ? (await import('picocolors')).default.createColors(true) : noColors
  let hasProgress = false
  const wipe = (): void => {
    if (hasProgress) stderr.write('\r\u001b[K')
    hasProgress = false
  }
  const json = (value: unknown): void => {
    wipe()
    stdout.write(`${JSON.stringify(toJson(value))}\n`)
  }
  const say = (text: string): void => {
    wipe()
    for (const line of messageLines(text, stdout)) stdout.write(`${line}\n`)
  }
  return {
    width: outputWidth(environment, stdout),
    colors,
    stdout,
    stderr,
    isJson,
    times,
    json,
    say,
    show: (value, text) => {
      if (isJson) return json(isDry && isRecord(value) ? { ...value, dryRun: true } : value)
      if (isDry) say('dry run: nothing was changed. Without --dry-run:')
      if (typeof text === 'string') say(text)
      else text()
    },
    line: (text = '') => {
      wipe()
      stdout.write(`${text}\n`)
    },
    note: (text) => {
      wipe()
      for (const line of messageLines(text, stderr)) stderr.write(`${line}\n`)
    },
    progress: (text) => {
      if (!stderr.isTerminal) return
      stderr.write(`\r\u001b[K${text}`)
      hasProgress = true
    },
  }
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
