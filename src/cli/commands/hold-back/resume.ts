import { type Command, exitCodes, storeOptions } from '../../framework/command.js'
import { oneTarget, queueOption } from '../../options/target.js'
import { withApp } from '../../host/with-app.js'

/** `rota resume`: lets a trigger or a queue go on. */
export const resume: Command = {
  name: 'resume',
  about:
    'Ends a pause. What was due meanwhile stays skipped; with --catch-up it goes through the trigger’s own catch-up policy as if nobody had been there.',
  arguments: [{ name: 'trigger', help: 'the trigger to let go on', isOptional: true, completes: 'trigger' }],
  options: [queueOption, { name: 'catch-up', help: 'bring back what was due meanwhile' }, ...storeOptions],
  examples: [
    { line: 'rota resume nightly', meaning: 'go on from here' },
    { line: 'rota resume nightly --catch-up', meaning: 'and bring back what was due' },
    { line: 'rota resume --queue mail', meaning: 'let its runs be claimed again' },
  ],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out } = context
      const { kind, name } = oneTarget(context)
      const changed =
        kind === 'queue'
          ? await app.queues.resume(name)
          : await app.triggers.resume(name, { catchUp: args.flag('catch-up') })
      if (args.flag('json')) out.json({ target: `${kind}:${name}`, changed })
      else out.say(changed ? `${kind} ${name} goes on` : `${kind} ${name} was not paused`)
      return exitCodes.ok
    }),
}
