import { type Command, exitCodes, storeOptions } from '../../framework/command.js'
import { shortIdOf } from '../../host/short-id-of.js'
import { runView } from '../../views/views.js'
import { withApp } from '../../host/with-app.js'

/** `rota cancel`: cancels a run. */
export const cancel: Command = {
  name: 'cancel',
  about: 'Cancels a run: a waiting one at once, a running one as soon as its worker has stopped it.',
  arguments: [{ name: 'run', help: 'the id of a run, or the beginning of it' }],
  options: [
    { name: 'note', value: 'text', help: 'why; kept with the run', isContent: true },
    ...storeOptions,
  ],
  examples: [{ line: 'rota cancel 01k9w8m2v4 --note "wrong day"', meaning: 'and say why' }],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out } = context
      const { run, requested } = await app.runs.cancel(args.word(0), { reason: args.text('note') })
      if (args.flag('json')) out.json({ requested, run: runView(run) })
      else if (requested) {
        const shortId = await shortIdOf(app, [run.id])
        out.say(`run ${run.id} was asked to stop; \`rota show ${shortId(run.id)}\` tells when it has`)
      } else out.say(`run ${run.id} is cancelled`)
      return exitCodes.ok
    }),
}
