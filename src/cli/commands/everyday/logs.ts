import type { App } from '../../../app/rota.js'
import { findRun } from '../../../app/runs/runs.js'
import type { StoredLogLine } from '../../../store/port.js'
import { type Command, storeOptions, zoneOption } from '../../framework/command.js'
import { onStore } from '../../host/on-store.js'
import { untilSignal } from '../../framework/until-signal.js'
import { followRun, linesAfter, printLogLine } from '../../views/follow.js'

/** `rota logs`: prints the log of a run. */
export const logs: Command<App> = {
  name: 'logs',
  about: 'Prints the log lines of a run, of all its attempts.',
  arguments: [{ name: 'run', help: 'the id of a run, or the beginning of it' }],
  options: [
    { name: 'follow', short: 'f', help: 'print new lines too, until the run ends' },
    zoneOption,
    ...storeOptions,
  ],
  examples: {
    'rota logs 01k9w8m2v4': 'its lines so far',
    'rota logs 01k9w8m2v4 --follow': 'and new lines',
  },
  run: onStore(async (reader, { args, out }) => {
    const store = await reader.store()
    const { id, state } = await findRun(store, args.word(0))
    const onLine = (line: StoredLogLine): void => printLogLine(out, line)
    if (args.flag('follow')) {
      return await untilSignal(async (stopped) => {
        const signal = AbortSignal.any([stopped, out.stdout.broken])
        await followRun({ reader, id, signal, onLine })
      })
    }
    const lines = await linesAfter(store, id, 0)
    lines.forEach(onLine)
    if (lines.length === 0 && !out.isJson) out.note(`run ${id} is ${state} and has no log lines`)
  }),
}
