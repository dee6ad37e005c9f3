import { type Command, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { holdOptions, readHold } from '../../framework/hold-options.js'
import { withApp } from '../../host/with-app.js'

/** `rota freeze`: holds back everything. */
export const freeze: Command = {
  name: 'freeze',
  about: 'Stops all ticks and all claims of every process on the store. What runs goes on.',
  arguments: [],
  options: [...holdOptions, zoneOption, ...storeOptions],
  examples: [{ line: 'rota freeze --note "incident 12" --until 30m', meaning: 'for half an hour' }],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out } = context
      const changed = await app.freeze(readHold(context))
      if (args.flag('json')) out.json({ target: 'all', changed })
      else out.say(changed ? 'everything is frozen; `rota thaw` ends it' : 'everything was frozen already')
      return exitCodes.ok
    }),
}
