import type { App } from '../../../app/rota.js'
import { printable } from '../../../text/printable.js'
import { type Command, exitCodes, jsonOption, storeOption } from '../../framework/command.js'
import { printWrapped } from '../../framework/print/wrap.js'
import { configArgument, loadFaultless } from '../../host/checked-config.js'

/** `rota lint`: finds settings of a config that may surprise. */
export const lint: Command<App> = {
  name: 'lint',
  about:
    'Finds settings of a config that are allowed but may surprise you: cron expressions with both day fields, times that a clock change skips or repeats, six fields where five were meant, runs that take longer than their interval, calendars that exclude everything, and many triggers at midnight. Each finding says where, what happens, and what to do.',
  arguments: [configArgument],
  options: [{ name: 'strict', help: 'exit code 1 if anything was found' }, storeOption, jsonOption],
  examples: {
    'rota lint': 'the config of this directory',
    'rota lint --strict --json': 'for CI',
  },
  run: async (context) => {
    const { args, out } = context
    const { config, app } = await loadFaultless(context)
    try {
      const found = await app.definitions.lint()
      out.show({ config, ok: found.length === 0, findings: found }, () => {
        if (found.length === 0) return out.line(`${config}: no findings`)
        for (const { rule, where, triggers, message, todo } of found) {
          const name = triggers.length === 1 ? `${triggers[0]}: ` : ''
          printWrapped(out, printable(`${where}: ${name}${message} [${rule}]`), { indent: 0, hanging: 2 })
          printWrapped(out, printable(`→ ${todo}`), { indent: 2, hanging: 4 })
        }
      })
      return found.length > 0 && args.flag('strict') ? exitCodes.failed : exitCodes.ok
    } finally {
      await app.close()
    }
  },
}
