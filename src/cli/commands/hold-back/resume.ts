import type { App } from '../../../app/rota.js'
import { type Command, exitCodes, storeOptions } from '../../framework/command.js'
import { oneTarget, queueOption } from '../../options/target.js'

/** `rota resume`: resumes a trigger or a queue. */
export const resume: Command<App> = {
  name: 'resume',
  about:
    'Ends a pause. What was due during it stays skipped; with --catch-up it goes through the catch-up policy of the trigger, as after a downtime.',
  arguments: [{ name: 'trigger', help: 'the trigger to resume', isOptional: true, completes: 'trigger' }],
  options: [
    queueOption,
    { name: 'catch-up', help: 'catch up on what was due during the pause' },
    ...storeOptions,
  ],
  examples: [
    { line: 'rota resume nightly', meaning: 'continue from now' },
    { line: 'rota resume nightly --catch-up', meaning: 'and catch up' },
    { line: 'rota resume --queue mail', meaning: 'claim from a queue again' },
  ],
  run: (context) =>
    context.withApp(async (app) => {
      const { kind, name } = oneTarget(context)
      const catchUp = context.args.flag('catch-up')
      const changed =
        kind === 'queue' ? await app.queues.resume(name) : await app.triggers.resume(name, { catchUp })
      const text = changed ? `resumed ${kind} ${name}` : `${kind} ${name} was not paused`
      context.out.show({ target: `${kind}:${name}`, changed }, text)
      return exitCodes.ok
    }),
}
