import { type Command, exitCodes, storeOptions } from '../../framework/command.js'
import { withApp } from '../../host/with-app.js'

/** `rota thaw`: ends a freeze. */
export const thaw: Command = {
  name: 'thaw',
  about:
    'Ends a freeze. What was due meanwhile stays skipped; with --catch-up it goes through each trigger’s own catch-up policy.',
  arguments: [],
  options: [{ name: 'catch-up', help: 'bring back what was due meanwhile' }, ...storeOptions],
  examples: [{ line: 'rota thaw --catch-up', meaning: 'go on, and bring back what was due' }],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out } = context
      const changed = await app.thaw({ catchUp: args.flag('catch-up') })
      if (args.flag('json')) out.json({ target: 'all', changed })
      else out.say(changed ? 'everything goes on' : 'nothing was frozen')
      return exitCodes.ok
    }),
}
