import type { App } from '../../app/rota.js'
import { burstLabels } from '../../kernel/run/burst.js'
import type { Attempt, Run } from '../../kernel/run/run.js'
import { printable } from '../../text/printable.js'
import type { Context } from '../framework/command.js'
import { type Fields, printFields } from '../framework/print/fields.js'
import type { Output } from '../framework/print/output.js'
import { count } from '../framework/print/words.js'
import { printTable } from '../framework/print/table.js'
import { pendingOf } from './pending-of.js'
import { tookText } from './runs-table.js'
import { attemptView, runView } from '../../wire/views/runs.js'

/** Shows one run in full, with every attempt. */
export async function showRun(context: Context<App>, app: App, id: string): Promise<void> {
  const { out } = context
  const run = await app.runs.get(id)
  const attempts = await app.runs.attempts(run.id)
  const pending = await pendingOf(app, [run])
  const views = { pending: pending.views(run), attempts: attempts.map(attemptView) }
  const data = { kind: 'run', run: runView(run), ...views }
  out.show(data, () => {
    printFields(out, run, { ...fields, 'waits because': () => pending.lines(run, out.times()) })
    if (attempts.length > 0) printAttempts(out, attempts)
    const stack = run.error?.stack?.split('\n') ?? []
    if (stack.length > 0) out.line()
    for (const line of stack) out.line(`  ${printable(line)}`)
    out.line()
    out.say(`\`rota logs ${pending.shortId(run.id)}\` shows its log`)
  })
}

const fields: Fields<Run> = {
  run: 'id',
  job: 'job',
  trigger: 'trigger',
  'made by': 'origin',
  state: (run) => (isAskedToStop(run) ? 'running, asked to stop' : run.state),
  reason: 'reason',
  due: 'dueAt',
  'runs at': ({ state, runAt }, times) => (state === 'pending' ? times.exact(runAt) : undefined),
  'waits because': () => undefined,
  started: 'startedAt',
  finished: 'finishedAt',
  attempts: ({ attempt, failures, crashes }) => `${attempt} (${failures} failed, ${crashes} lost)`,
  worker: 'worker',
  partition: 'partition',
  priority: 'priority',
  'unique key': 'uniqueKey',
  'stands for': ({ labels }) => burstText(labels),
  payload: ({ payload }) => JSON.stringify(payload),
  result: ({ result }) => JSON.stringify(result),
  error: ({ error }) => error && `${error.message} [${error.code}]`,
}

/** How many other enqueues a run replaced or dropped. */
function burstText(labels: Run['labels']): string | undefined {
  const replaced = labels?.[burstLabels.debounce]
  if (replaced !== undefined) return `${count(Number(replaced), 'earlier enqueue')} that it replaced`
  const dropped = labels?.[burstLabels.throttle]
  return dropped === undefined
    ? undefined
    : `${count(Number(dropped), 'later enqueue')} that the throttle dropped`
}

function printAttempts(out: Output, attempts: readonly Attempt[]): void {
  out.line()
  printTable(out, attempts, [
    { key: 'attempt', title: 'TRY' },
    { title: 'END', text: ({ end }) => end ?? 'running' },
    { title: 'STARTED', text: ({ startedAt, claimedAt }, times) => times.full(startedAt ?? claimedAt) },
    {
      title: 'TOOK',
      text: ({ startedAt, endedAt }) => tookText({ startedAt, finishedAt: endedAt }),
      isRight: true,
    },
    { key: 'worker', shortest: 8 },
    { title: 'ERROR', text: ({ error }) => error?.message, shortest: 8 },
  ])
}

/** If only its trigger was removed, the run may finish and was not asked to stop. */
function isAskedToStop({ state, cancelRequested, reason }: Run): boolean {
  return state === 'running' && cancelRequested && reason !== 'removed'
}
