import type { App } from '../../../app/rota.js'
import { isSame } from '../../../app/explain/definition-diff.js'
import { type Command, exitCodes, jsonOption, storeOption, zoneOption } from '../../framework/command.js'
import { refusal } from '../../../app/definitions/refusal.js'
import { configArgument, loadFaultless } from '../../host/checked-config.js'
import { printDiff } from '../../views/print-diff.js'

/** `rota diff`: what a deploy of a config would change. */
export const diff: Command<App> = {
  name: 'diff',
  about:
    'Compares a config with the definitions of its source in the store, before a deploy: jobs and triggers that are added, removed or changed, the due times of the next days that appear, vanish or move, the busiest minute before and after, and what would be caught up immediately. It writes nothing. Exit code 0: no difference, 1: differences, 2: the config has faults, 3: the store cannot be used.',
  arguments: [configArgument],
  options: [
    { name: 'days', value: 'n', help: 'how many days ahead; default: 7', whole: [1, 366] },
    storeOption,
    zoneOption,
    jsonOption,
  ],
  examples: {
    'rota diff': 'what `rota up` would change now',
    'rota diff rota.config.yaml --days 30 --json': 'a month, for a program',
  },
  run: async (context) => {
    const { args, out } = context
    const { config, app } = await loadFaultless(context)
    try {
      const faults = await app.definitions.check()
      if (faults.length > 0) throw refusal(config, faults)
      const found = await app.definitions.diff({ days: args.whole('days') ?? 7 })
      const isUnchanged = isSame(found)
      out.show({ config, same: isUnchanged, ...found }, () => printDiff(out, found))
      return isUnchanged ? exitCodes.ok : exitCodes.failed
    } finally {
      await app.close()
    }
  },
}
