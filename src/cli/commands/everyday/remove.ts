import { type Command, exitCodes, storeOptions } from '../../framework/command.js'
import { unknownName } from '../../options/unknown-name.js'
import { withApp } from '../../options/with-app.js'

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
      const name = args.word(0)
      const isTrigger = (await app.triggers.list()).some((one) => one.active && one.trigger.name === name)
      const kind = isTrigger ? 'trigger' : 'job'
      const job = (await app.jobs.list()).find((one) => one.job.name === name)
      if (!isTrigger && job === undefined) throw await unknownName(app, name, 'trigger or job')
      await (isTrigger ? app.triggers.remove(name) : app.jobs.remove(name))
      const stays = isTrigger && job !== undefined && (job.source === 'api' || job.job.ended === true)
      if (args.flag('json')) out.json({ kind, name })
      else
        out.say(`${kind} ${name} is removed${stays ? `; its job stays, the same once more forgets it` : ''}`)
      return exitCodes.ok
    }),
}
