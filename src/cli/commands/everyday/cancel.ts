import type { App } from '../../../app/rota.js'
import { shortIdOf } from '../../host/short-id-of.js'
import { changeOptions, type Command, onApp, reasonOption } from '../../framework/command.js'
import { runView } from '../../../wire/views/runs.js'

/** `rota cancel`: cancels a run. */
export const cancel: Command<App> = {
  name: 'cancel',
  about: 'Cancels a run: a pending one immediately, a running one as soon as its worker has stopped it.',
  arguments: [{ name: 'run', help: 'the id of a run, or the beginning of it' }],
  options: [
    { ...reasonOption, help: 'why; stored with the run, and `rota history` shows it' },
    ...changeOptions.filter(({ name }) => name !== reasonOption.name),
  ],
  examples: { 'rota cancel 01k9w8m2v4 --reason "wrong day"': 'with a reason' },
  run: onApp(async (app, { args, out }) => {
    const { run, requested } = await app.runs.cancel(args.word(0), {
      reason: args.text('reason'),
      dryRun: args.flag('dry-run'),
    })
    const { id } = run
    const shortId = await shortIdOf(app, [id])
    out.show(
      { requested, run: runView(run) },
      requested
        ? `asked run ${id} to stop; \`rota show ${shortId(id)}\` shows when it has`
        : `cancelled run ${id}`,
    )
  }),
}
