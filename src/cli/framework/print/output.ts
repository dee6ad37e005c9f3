import { toJson } from '../../../wire/to-json.js'
import { messageLines } from './wrap.js'
import { outputWidth, type PrintStream } from './print-stream.js'
import type { TimeText } from './time-text.js'

/** Where a command writes: lines for a person or JSON for a program, and notes beside them. */
export interface Output {
  /** How many columns a table may have. */
  readonly width: number
  readonly colors: Colors
  /** Whether `--json` was given. */
  readonly isJson: boolean
  /** Prints a value: with `--json` as one line of JSON, else its text, which is a sentence or what a function prints. */
  show(value: unknown, text: string | (() => void)): void
  /** How times are written now, in the zone that was asked for. */
  times(): TimeText
  /** What was asked for. */
  line(text?: string): void
  /** What is said beside it, on standard error: a sentence, wrapped at words on a terminal. */
  note(text: string): void
  /** What was done, as a sentence, wrapped at words on a terminal. */
  say(text: string): void
  /** One value, as one line. */
  json(value: unknown): void
  /** How far long work is: one line on standard error that is written over, and nothing where nobody watches. */
  progress(text: string): void
  /** Standard output itself, for those who have to know whether it can be written. */
  readonly stdout: PrintStream
  /** Standard error itself. */
  readonly stderr: PrintStream
}

/** The two standard streams. */
export interface PrintStreams {
  readonly stdout: PrintStream
  readonly stderr: PrintStream
}

/** Ways to paint a text; they change nothing where there are no colours. */
export interface Colors {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
}

/** Puts a colour around a text. */
export type Paint = (text: string) => string

const plain: Paint = (text) => text
const noColors: Colors = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain }
/** What an output depends on. */
export interface OutputOptions {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly streams: PrintStreams
  readonly isJson: boolean
  /** Whether what is shown was only tried. */
  readonly isDry?: boolean
  readonly times: () => TimeText
}

/** The terminal's output: painted only where a person watches who has not asked for no colours. */
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
