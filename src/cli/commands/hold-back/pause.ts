import type { App } from '../../../app/rota.js'
import { type Command, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { holdOptions, readHold } from '../../framework/hold-options.js'
import { oneTarget, queueOption } from '../../options/target.js'

/** `rota pause`: pauses a trigger or a queue. */
export const pause: Command<App> = {
  name: 'pause',
  about:
    'Stops the ticks of a trigger, or the claims from a queue. Running runs continue. What is due during the pause is recorded as paused and stays skipped, unless `rota resume --catch-up` catches up.',
  arguments: [{ name: 'trigger', help: 'the trigger to pause', isOptional: true, completes: 'trigger' }],
  options: [queueOption, ...holdOptions, zoneOption, ...storeOptions],
  examples: [
    { line: 'rota pause nightly --note "migration" --until 2h', meaning: 'for two hours, with a reason' },
    { line: 'rota pause --queue mail', meaning: 'claim nothing from a queue' },
  ],
  run: (context) =>
    context.withApp(async (app) => {
      const { kind, name } = oneTarget(context)
      const hold = readHold(context)
      const changed =
        kind === 'queue' ? await app.queues.pause(name, hold) : await app.triggers.pause(name, hold)
      const text = changed ? `paused ${kind} ${name}` : `${kind} ${name} was paused already`
      context.out.show({ target: `${kind}:${name}`, changed }, text)
      return exitCodes.ok
    }),
}
