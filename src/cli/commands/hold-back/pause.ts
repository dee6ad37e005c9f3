import { type Command, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { holdOptions, readHold } from '../../framework/hold-options.js'
import { oneTarget, queueOption } from '../../options/target.js'
import { withApp } from '../../host/with-app.js'

/** `rota pause`: holds back a trigger or a queue. */
export const pause: Command = {
  name: 'pause',
  about:
    'Stops the ticks of a trigger, or the claims from a queue. What runs goes on. What is due meanwhile is recorded as paused and stays skipped, unless `rota resume --catch-up` brings it back.',
  arguments: [{ name: 'trigger', help: 'the trigger to hold back', isOptional: true, completes: 'trigger' }],
  options: [queueOption, ...holdOptions, zoneOption, ...storeOptions],
  examples: [
    { line: 'rota pause nightly --note "migration" --until 2h', meaning: 'for two hours, and say why' },
    { line: 'rota pause --queue mail', meaning: 'let its runs wait' },
  ],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out } = context
      const { kind, name } = oneTarget(context)
      const hold = readHold(context)
      const changed =
        kind === 'queue' ? await app.queues.pause(name, hold) : await app.triggers.pause(name, hold)
      if (args.flag('json')) out.json({ target: `${kind}:${name}`, changed })
      else out.say(changed ? `${kind} ${name} is paused` : `${kind} ${name} was paused already`)
      return exitCodes.ok
    }),
}
