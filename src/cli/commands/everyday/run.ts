import type { Run } from '../../../kernel/run/run.js'
import type { Rota } from '../../../app/rota.js'
import { printable } from '../../../text/printable.js'
import { takesWork } from '../../../app/control/workers.js'
import { type Command, type Context, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { followRun, untilSignal } from '../../views/follow.js'
import { payloadOption, readPayload } from '../../options/payload-option.js'
import { statePaint, tookText } from '../../views/runs-table.js'
import { shortIdOf } from '../../host/short-id-of.js'
import { timesOf } from '../../framework/times-of.js'
import { runView } from '../../views/views.js'
import { withApp } from '../../host/with-app.js'
import { printLogLine } from './logs.js'

/** `rota run`: runs a job now and follows it. */
export const run: Command = {
  name: 'run',
  about:
    'Runs the job of a trigger, or a job, now and beside everything that is scheduled. A worker performs it (`rota up`); this command shows its log and ends as it does, with exit code 1 where it failed. Ctrl-C ends only the watching.',
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
    withApp(context, async (app) => {
      const { args, out } = context
      const name = args.word(0)
      const options = { payload: await readPayload(context) }
      const isTrigger = (await app.triggers.list()).some(({ trigger }) => trigger.name === name)
      const { id } = await (isTrigger ? app.triggers : app.jobs).runNow(name, options)
      if (args.flag('detach')) {
        if (args.flag('json')) out.json({ id })
        else out.line(id)
        return exitCodes.ok
      }
      return await followToEnd(context, app, id)
    }),
}

/** Shows what a run writes until it ends, and gives the exit code it comes to. */
export async function followToEnd(context: Context, app: Rota, id: string): Promise<number> {
  await sayIfNobodyWorks(context, app)
  return await untilSignal((signal) => follow(context, { app, id, signal }))
}

async function sayIfNobodyWorks({ out }: Context, app: Rota): Promise<void> {
  const now = app.now()
  const workers = await (await app.store()).workers()
  if (workers.some((worker) => takesWork(worker, now))) return
  out.note('no worker is alive; the run waits for one, start it with `rota up` (Ctrl-C stops waiting)')
}

async function follow(
  context: Context,
  { app, id, signal }: { app: Rota; id: string; signal: AbortSignal },
): Promise<number> {
  const { args, out } = context
  const times = timesOf(context)
  const isJson = args.flag('json')
  if (!isJson) out.line(out.colors.dim(`run ${id}`))
  const ended = await followRun({
    app,
    id,
    signal,
    onLine: (line) => (isJson ? undefined : printLogLine(context, line, times)),
  })
  if (signal.aborted) {
    const shortId = await shortIdOf(app, [id])
    out.note(`run ${id} goes on; \`rota logs ${shortId(id)} --follow\` shows it`)
  } else if (isJson) out.json(runView(ended))
  else out.line(endText(context, ended))
  return ended.state === 'done' ? exitCodes.ok : exitCodes.failed
}

function endText({ out }: Context, ended: Run): string {
  const took = tookText(ended)
  const why = ended.state === 'done' ? undefined : (ended.reason ?? ended.error?.message)
  const state = statePaint(out.colors, ended.state)(ended.state)
  const tries = ended.attempt > 1 ? `, ${ended.attempt} attempts` : ''
  return `${state}${took === '' ? '' : ` in ${took}`}${tries}${why === undefined ? '' : `: ${printable(why)}`}`
}
