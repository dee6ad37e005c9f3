import type { App } from '../../../app/rota.js'
import { type Command, exitCodes, storeOptions } from '../../framework/command.js'

/** `rota thaw`: ends a freeze. */
export const thaw: Command<App> = {
  name: 'thaw',
  about:
    'Ends a freeze. What was due during it stays skipped; with --catch-up it goes through the catch-up policy of each trigger.',
  options: [{ name: 'catch-up', help: 'catch up on what was due during the freeze' }, ...storeOptions],
  examples: [{ line: 'rota thaw --catch-up', meaning: 'resume, and catch up' }],
  run: (context) =>
    context.withApp(async (app) => {
      const changed = await app.thaw({ catchUp: context.args.flag('catch-up') })
      context.out.show({ target: 'all', changed }, changed ? 'resumed everything' : 'nothing was frozen')
      return exitCodes.ok
    }),
}
