import type { Attempt, Run } from '../../kernel/run/run.js'
import type { Rota } from '../../app/rota.js'
import { printable } from '../../text/printable.js'
import { type Context, exitCodes } from '../framework/command.js'
import { type Field, printFields } from '../framework/print/fields.js'
import { pendingOf } from './pending-of.js'
import { shortIdOf } from '../host/short-id-of.js'
import { printTable } from '../framework/print/table.js'
import { roughly, type TimeText } from '../framework/print/time-text.js'
import { timesOf } from '../framework/times-of.js'
import { attemptView, pendingView, runView } from './views.js'

/** Shows one run in full, with every attempt. */
export async function showRun(context: Context, app: Rota, id: string): Promise<number> {
  const { args, out } = context
  const run = await app.runs.get(id)
  const attempts = await app.runs.attempts(run.id)
  const pending = await pendingOf(app, [run])
  if (args.flag('json')) {
    out.json({
      kind: 'run',
      run: runView(run),
      pending: pending.reasons(run).map(pendingView),
      attempts: attempts.map(attemptView),
    })
    return exitCodes.ok
  }
  const times = timesOf(context)
  printFields(out, fieldsOf(run, times, pending.lines(run, times)))
  if (attempts.length > 0) printAttempts(context, attempts, times)
  if (run.error?.stack !== undefined) {
    out.line()
    for (const line of run.error.stack.split('\n')) out.line(`  ${printable(line)}`)
  }
  out.line()
  const shortId = await shortIdOf(app, [run.id])
  out.say(`\`rota logs ${shortId(run.id)}\` shows what it wrote`)
  return exitCodes.ok
}

function fieldsOf(run: Run, times: TimeText, waitsFor: readonly string[]): readonly Field[] {
  const moment = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : times.exact(at)
  const json = (value: unknown): string | undefined =>
    value === undefined ? undefined : JSON.stringify(value)
  return [
    ['run', run.id],
    ['job', run.job],
    ['trigger', run.trigger],
    ['made by', run.origin],
    ['state', isAskedToStop(run) ? 'running, asked to stop' : run.state],
    ['why', run.reason],
    ['due', moment(run.dueAt)],
    ['runs at', run.state === 'pending' ? moment(run.runAt) : undefined],
    ...waitsFor.map((line, index): Field => [index === 0 ? 'waits because' : ' ', line]),
    ['started', moment(run.startedAt)],
    ['finished', moment(run.finishedAt)],
    ['attempts', `${run.attempt} (${run.failures} failed, ${run.crashes} lost)`],
    ['worker', run.worker],
    ['partition', run.partition],
    ['priority', String(run.priority)],
    ['unique key', run.uniqueKey],
    ['payload', json(run.payload)],
    ['result', json(run.result)],
    ['error', run.error === undefined ? undefined : `${run.error.message} [${run.error.code}]`],
  ]
}

function printAttempts({ out }: Context, attempts: readonly Attempt[], times: TimeText): void {
  out.line()
  printTable(out, attempts, [
    { title: 'TRY', text: ({ attempt }) => String(attempt), isRight: true },
    { title: 'END', text: ({ end }) => end ?? 'running' },
    { title: 'STARTED', text: ({ startedAt, claimedAt }) => times.full(startedAt ?? claimedAt) },
    {
      title: 'TOOK',
      text: ({ startedAt, endedAt }) =>
        startedAt === undefined || endedAt === undefined ? '' : roughly(endedAt - startedAt),
      isRight: true,
    },
    { title: 'WORKER', text: ({ worker }) => worker ?? '', shortest: 8 },
    { title: 'ERROR', text: ({ error }) => error?.message ?? '', shortest: 8 },
  ])
}

/** Where its trigger was removed it may finish, and nobody asked it to stop. */
function isAskedToStop({ state, cancelRequested, reason }: Run): boolean {
  return state === 'running' && cancelRequested && reason !== 'removed'
}
