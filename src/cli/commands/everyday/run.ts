import type { App } from '../../../app/rota.js'
import { type Command, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { payloadOption, readPayload } from '../../options/payload-option.js'

/** `rota run`: runs a job now and follows it. */
export const run: Command<App> = {
  name: 'run',
  about:
    'Runs the job of a trigger, or a job, now, independent of its schedule. A worker (`rota up`) performs it; this command prints its log and ends when it ends, with exit code 1 if it failed. Ctrl-C only stops the printing.',
  arguments: [{ name: 'name', help: 'a trigger or a job', completes: 'trigger' }],
  options: [
    payloadOption,
    { name: 'detach', short: 'd', help: 'print the id and do not wait' },
    zoneOption,
    ...storeOptions,
  ],
  examples: [
    { line: 'rota run nightly', meaning: 'run it now and watch' },
    { line: `rota run report --payload '{"day":"2026-01-05"}'`, meaning: 'with a payload' },
    { line: 'rota run report --detach', meaning: 'do not wait for it' },
  ],
  run: (context) =>
    context.withApp(async (app, runs) => {
      const { args, out } = context
      const name = args.word(0)
      const options = { payload: await readPayload(context) }
      const isTrigger = (await app.triggers.list()).some(({ trigger }) => trigger.name === name)
      const { id } = await (isTrigger ? app.triggers : app.jobs).runNow(name, options)
      if (!args.flag('detach')) return await runs.follow(id)
      out.show({ id }, () => out.line(id))
      return exitCodes.ok
    }),
}
