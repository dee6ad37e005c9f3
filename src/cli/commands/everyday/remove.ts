import { type Command, exitCodes, storeOptions } from '../../framework/command.js'
import { withApp } from '../../host/with-app.js'

/** `rota remove`: removes what was added at run time. */
export const remove: Command = {
  name: 'remove',
  about:
    'Ends a trigger that was added at run time; its waiting runs are cancelled, its history stays. If no trigger has the name, it forgets the job that was added under it, or that its config or code no longer defines. What code or a config defines is removed there.',
  arguments: [{ name: 'name', help: 'a trigger, or a job', completes: 'trigger' }],
  options: storeOptions,
  examples: [{ line: 'rota remove ping', meaning: 'the trigger; once more for the job of the same name' }],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out } = context
      const removed = await app.remove(args.word(0))
      const { kind, name } = removed
      const stays =
        kind === 'trigger' &&
        (await app.jobs()).some(
          ({ job, source }) => job.name === name && (source === 'api' || job.ended === true),
        )
      if (args.flag('json')) out.json(removed)
      else
        out.say(`${kind} ${name} is removed${stays ? `; its job stays, the same once more forgets it` : ''}`)
      return exitCodes.ok
    }),
}
