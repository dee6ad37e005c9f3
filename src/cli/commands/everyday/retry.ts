import { type Command, exitCodes, storeOptions } from '../../framework/command.js'
import { shortIdOf } from '../../host/short-id-of.js'
import { runView } from '../../views/views.js'
import { withApp } from '../../host/with-app.js'

/** `rota retry`: makes a final run pending again. */
export const retry: Command = {
  name: 'retry',
  about: 'Gives a failed or cancelled run, also one that was quarantined, a fresh budget of attempts, now.',
  arguments: [{ name: 'run', help: 'the id of a run, or the beginning of it' }],
  options: storeOptions,
  examples: [{ line: 'rota retry 01k9w8m2v4', meaning: 'try it again' }],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out } = context
      const run = await app.runs.retry(args.word(0))
      if (args.flag('json')) out.json(runView(run))
      else {
        const shortId = await shortIdOf(app, [run.id])
        out.say(`run ${run.id} is pending again; \`rota logs ${shortId(run.id)} --follow\` shows it`)
      }
      return exitCodes.ok
    }),
}
