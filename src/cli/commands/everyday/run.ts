import type { App } from '../../../app/rota.js'
import { type Command, detachOption, onApp, changeOptions, zoneOption } from '../../framework/command.js'
import { payloadOption, readPayload } from '../../options/payload-option.js'

/** `rota run`: runs a job now and follows it. */
export const run: Command<App> = {
  name: 'run',
  about:
    'Runs the job of a trigger, or a job, now, independent of its schedule. A worker (`rota up`) performs it; this command prints its log and ends with the run, with exit code 1 if the run failed. Ctrl-C only stops the printing.',
  arguments: [{ name: 'name', help: 'a trigger or a job', completes: 'trigger' }],
  options: [payloadOption, detachOption, zoneOption, ...changeOptions],
  examples: {
    'rota run nightly': 'run it now and watch',
    [`rota run report --payload '{"day":"2026-01-05"}'`]: 'with a payload',
    'rota run report --detach': 'do not wait for it',
    'rota run nightly --dry-run': 'whether it could be run',
  },
  run: onApp(async (app, context) => {
    const name = context.args.word(0)
    const options = { payload: await readPayload(context), dryRun: context.args.flag('dry-run') }
    const isTrigger = (await app.triggers.list()).some(({ trigger }) => trigger.name === name)
    const { id } = await (isTrigger ? app.triggers : app.jobs).runNow(name, options)
    return await context.follow(id)
  }),
}
