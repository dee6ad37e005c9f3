import type { App } from '../../../app/rota.js'
import { unknownName } from '../../options/unknown-name.js'
import { type Command, onApp, changeOptions } from '../../framework/command.js'

/** `rota remove`: removes a trigger or job that was added at run time. */
export const remove: Command<App> = {
  name: 'remove',
  about:
    'Removes a trigger that was added at run time: its pending runs are cancelled, its history stays. If no trigger has the name, it removes the job that was added under it, or that its config or code no longer defines. To remove what code or a config defines, change the code or the config.',
  arguments: [{ name: 'name', help: 'a trigger, or a job', completes: 'trigger' }],
  options: changeOptions,
  examples: { 'rota remove ping': 'the trigger; once more for the job of the same name' },
  run: onApp(async (app, { args, out }) => {
    const name = args.word(0)
    const isTrigger = (await app.triggers.list()).some((one) => one.active && one.trigger.name === name)
    const job = (await app.jobs.list()).find((one) => one.job.name === name)
    if (!isTrigger && job === undefined) throw await unknownName(app, name, 'trigger or job')
    await (isTrigger ? app.triggers : app.jobs).remove(name, { dryRun: args.flag('dry-run') })
    const isJobLeft = isTrigger && (job?.source === 'api' || job?.job.ended === true)
    const hint = isJobLeft ? '; its job stays, the same command also removes it' : ''
    const kind = isTrigger ? 'trigger' : 'job'
    out.show({ kind, name }, `removed ${kind} ${name}${hint}`)
  }),
}
