import type { StoredLogLine } from '../../../store/port.js'
import { printable } from '../../../text/printable.js'
import { type Command, type Context, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { followRun, linesAfter, untilSignal } from '../../views/follow.js'
import type { TimeText } from '../../framework/print/time-text.js'
import { timesOf } from '../../framework/times-of.js'
import { logView } from '../../views/views.js'
import { withApp } from '../../host/with-app.js'

/** `rota logs`: prints what a run wrote. */
export const logs: Command = {
  name: 'logs',
  about: 'Prints the lines that a run wrote, of all its attempts.',
  arguments: [{ name: 'run', help: 'the id of a run, or the beginning of it' }],
  options: [
    { name: 'follow', short: 'f', help: 'go on until the run is final' },
    zoneOption,
    ...storeOptions,
  ],
  examples: [
    { line: 'rota logs 01k9w8m2v4', meaning: 'what it wrote' },
    { line: 'rota logs 01k9w8m2v4 --follow', meaning: 'and what it still writes' },
  ],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out } = context
      const times = timesOf(context)
      const { id, state } = await app.runs.get(args.word(0))
      const onLine = (line: StoredLogLine): void => printLogLine(context, line, times)
      if (args.flag('follow')) {
        return await untilSignal(async (stopped) => {
          const signal = AbortSignal.any([stopped, out.stdout.broken])
          await followRun({ app, id, signal, onLine })
          return exitCodes.ok
        })
      }
      const lines = await linesAfter(app, id, 0)
      for (const line of lines) onLine(line)
      if (lines.length === 0 && !args.flag('json')) out.note(`run ${id} is ${state} and has written nothing`)
      return exitCodes.ok
    }),
}

/** Prints one line of a run, with when and how important it is. */
export function printLogLine({ args, out }: Context, line: StoredLogLine, times: TimeText): void {
  if (args.flag('json')) {
    out.json(logView(line))
    return
  }
  const { dim, red, yellow } = out.colors
  const paint = line.level === 'error' ? red : line.level === 'warn' ? yellow : (text: string) => text
  out.line(`${dim(times.clock(line.at))}  ${paint(printable(line.text))}`)
}
