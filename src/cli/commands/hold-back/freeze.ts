import type { App } from '../../../app/rota.js'
import { type Command, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { holdOptions, readHold } from '../../framework/hold-options.js'

/** `rota freeze`: pauses everything. */
export const freeze: Command<App> = {
  name: 'freeze',
  about: 'Stops all ticks and all claims of every process on the store. Running runs continue.',
  options: [...holdOptions, zoneOption, ...storeOptions],
  examples: [{ line: 'rota freeze --note "incident 12" --until 30m', meaning: 'for half an hour' }],
  run: (context) =>
    context.withApp(async (app) => {
      const changed = await app.freeze(readHold(context))
      const text = changed ? 'froze everything; `rota thaw` ends it' : 'everything was frozen already'
      context.out.show({ target: 'all', changed }, text)
      return exitCodes.ok
    }),
}
