import type { App } from '../../../app/rota.js'
import { shortIdOf } from '../../host/short-id-of.js'
import { type Command, onApp, changeOptions } from '../../framework/command.js'
import { runView } from '../../../wire/views/runs.js'

/** `rota retry`: makes a final run pending again. */
export const retry: Command<App> = {
  name: 'retry',
  about: 'Makes a failed, cancelled or quarantined run pending again, with all its attempts.',
  arguments: [{ name: 'run', help: 'the id of a run, or the beginning of it' }],
  options: changeOptions,
  examples: { 'rota retry 01k9w8m2v4': 'try it again' },
  run: onApp(async (app, { args, out }) => {
    const run = await app.runs.retry(args.word(0), { dryRun: args.flag('dry-run') })
    const shortId = await shortIdOf(app, [run.id])
    const hint = `\`rota logs ${shortId(run.id)} --follow\` shows its log`
    out.show(runView(run), `run ${run.id} is pending again; ${hint}`)
  }),
}
