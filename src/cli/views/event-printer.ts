import { printable } from '../../text/printable.js'
import type { Surroundings } from '../framework/command.js'
import { count } from '../framework/print/words.js'
import type { Notice } from '../framework/print/notice.js'
import { toJson } from '../../wire/to-json.js'
import type { Paint } from '../framework/print/output.js'
import type { TimeText } from '../framework/print/time-text.js'

/** Prints events, for people or for programs. */
export interface EventPrinter {
  /** Prints an event of the engine. */
  readonly tell: (notice: Notice) => void
  /** Prints a line about this process itself, such as the summary or the stop. */
  readonly say: (text: string, event: string, data?: Readonly<Record<string, unknown>>) => void
}

/** Lines for a person: time, symbol, subject, event. */
export function textPrinter({ args, out }: Surroundings, times: () => TimeText): EventPrinter {
  const isQuiet = args.flag('quiet')
  let width = 0
  return {
    tell({ level, symbol, subject, text }) {
      if (level === 'debug' || (isQuiet && level === 'info')) return
      width = Math.max(width, Math.min(subject.length, 20))
      const here = times()
      const paint = paintOf(level, symbol)
      out.line(
        `${out.colors.dim(here.clock(here.now))}  ${paint(symbol)} ${subject.padEnd(width)}  ${printable(text)}`,
      )
    },
    say(text) {
      if (!isQuiet) out.line(text)
    },
  }

  function paintOf(level: Notice['level'], symbol: string): Paint {
    const { red, yellow, green, dim } = out.colors
    if (level === 'error') return red
    if (level === 'warn') return yellow
    return symbol === '✓' ? green : dim
  }
}

/** JSON lines for a program. */
export async function jsonPrinter({ args, out }: Surroundings): Promise<EventPrinter> {
  const { default: pino } = await import('pino')
  const logger = pino(
    {
      base: null,
      level: args.flag('quiet') ? 'warn' : 'debug',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    { write: (line) => out.stdout.write(line) },
  )
  return {
    tell: ({ level, event, subject, text, data }) =>
      logger[level]({ event, subject, ...(toJson(data) as object) }, text),
    say: (text, event, data = {}) => logger.info({ event, ...(toJson(data) as object) }, text),
  }
}

/** Warns when the output has no reader any more, and reports lost lines once it can be written again. */
export function reportLostOutput({ out }: Surroundings, { tell }: EventPrinter): void {
  const { stdout } = out
  stdout.broken.addEventListener('abort', () => {
    if (stdout.failure === undefined) out.note('warning: standard output is closed; rota continues')
  })
  stdout.onRestored = (lines) => {
    const text = `${count(lines, 'line')} could not be written to standard output`
    tell({ level: 'warn', symbol: '!', subject: 'output', text, event: 'output:lost', data: { lines } })
  }
}
