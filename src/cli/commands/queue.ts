import type { Run } from '../../app/nouns.js'
import type { InvalidFile } from '../../app/queue-files.js'
import { formatInstant, systemClock } from '../../app/times.js'
import { parseDuration } from '../../app/durations.js'
import { type Command, type Context, exitCodes, jsonOption } from '../command.js'
import { onQueue, queueDirOf, queueDirOption } from '../one-shot.js'
import { printTable } from '../table.js'
import { usageError } from '../usage-error.js'

const actions = ['list', 'show', 'retry', 'requeue', 'purge'] as const
const states = ['pending', 'running', 'done', 'failed', 'cancelled', 'invalid'] as const

/** `rota queue`: looks at a queue directory and puts it in order. */
export const queue: Command = {
  name: 'queue',
  about:
    'list shows every run of a queue directory by state, and files that cannot be read as invalid. show prints one run. retry gives a failed or cancelled run another try, now. requeue takes back what dead workers left in running. purge removes done and failed runs that ended before a time; their ids stay known, so that none is enqueued again.',
  arguments: [
    { name: 'action', help: actions.join(', '), completes: actions },
    { name: 'id', help: 'for show and retry: a job_id, run_id or id', isOptional: true },
  ],
  options: [
    queueDirOption,
    { name: 'state', value: 'state', help: 'list only these', choices: states },
    { name: 'older-than', value: 'duration', help: 'for purge; default 30d' },
    jsonOption,
  ],
  examples: [
    { line: 'rota queue list --queue-dir data/queue', meaning: 'all of it' },
    { line: 'rota queue list --state failed --json', meaning: 'what failed, for a program' },
    { line: 'rota queue retry 96b0037ff184', meaning: 'once more' },
    { line: 'rota queue purge --older-than 7d', meaning: 'make room' },
  ],
  run: (context) =>
    onQueue(context, async () => {
      const action = actionOf(context)
      const { openQueue } = await import('../../app/queue-directory.js')
      const store = await openQueue(queueDirOf(context), context.directory)
      try {
        return await act(context, action, store)
      } finally {
        await store?.close()
      }
    }),
}

type Action = (typeof actions)[number]
type QueueStore = Awaited<ReturnType<typeof import('../../app/queue-directory.js').openQueue>>

function actionOf({ args }: Context): Action {
  const word = args.word(0)
  const action = actions.find((one) => one === word)
  const hint = '`rota queue --help` shows examples'
  if (action === undefined) {
    const message = `${JSON.stringify(word)} is not one of them`
    throw usageError([{ path: 'action', message, allowed: actions.join(', ') }], hint)
  }
  const needsId = action === 'show' || action === 'retry'
  if (needsId !== (args.optionalWord(1) !== undefined)) {
    const message = needsId ? 'it is missing' : `${action} takes none`
    throw usageError([{ path: '<id>', message }], hint)
  }
  return action
}

async function act(context: Context, action: Action, store: QueueStore): Promise<number> {
  if (action === 'list') return await list(context, store)
  if (store === undefined) {
    context.out.note(`there is no queue in ${queueDirOf(context)}`)
    return exitCodes.store
  }
  switch (action) {
    case 'show':
      return await show(context, store)
    case 'retry':
      return await retry(context, store)
    case 'requeue':
      return await requeue(context, store)
    case 'purge':
      return await purge(context, store)
  }
}

/** One line of the list. */
interface Row {
  readonly state: string
  readonly scheduled_for: string | null
  readonly job_id: string | null
  readonly run_id: string | null
  readonly pipeline_path: string | null
  readonly attempts: number | null
  readonly error: { readonly code: string; readonly message: string; readonly step?: string } | null
  readonly file?: string
}

async function list(context: Context, store: QueueStore): Promise<number> {
  const { args, out, directory } = context
  const { allRuns } = await import('../../app/queue-directory.js')
  const { invalidFiles } = await import('../../app/queue-files.js')
  const runs = store === undefined ? [] : await allRuns(store)
  const rows = [
    ...(await Promise.all(runs.map(rowOf))),
    ...invalidFiles(queueDirOf(context), directory).map(invalidRow),
  ]
  const wanted = args.text('state')
  const shown = rows.filter((row) => wanted === undefined || row.state === wanted)
  if (args.flag('json')) out.json(shown)
  else if (shown.length === 0) out.line('no runs')
  else printRows(context, shown)
  return exitCodes.ok
}

async function rowOf(run: Run): Promise<Row> {
  const { jobIdOf, pipelinePathOf, queueErrorOf, runIdOf } = await import('../../app/queue-directory.js')
  return {
    state: run.state,
    scheduled_for: formatInstant(run.dueAt),
    job_id: jobIdOf(run),
    run_id: runIdOf(run),
    pipeline_path: pipelinePathOf(run),
    attempts: run.attempt,
    error: run.error === undefined ? null : queueErrorOf(run.error),
  }
}

function invalidRow({ path, fault }: InvalidFile): Row {
  const error = { code: 'invalid', message: fault }
  const nothing = { scheduled_for: null, job_id: null, run_id: null, pipeline_path: null, attempts: null }
  return { state: 'invalid', ...nothing, error, file: path }
}

function printRows({ out }: Context, rows: readonly Row[]): void {
  const { red, green, yellow, cyan, dim } = out.colors
  const plain = (text: string): string => text
  const paints: Readonly<Record<string, typeof red>> = {
    done: green,
    failed: red,
    running: cyan,
    invalid: yellow,
    cancelled: dim,
  }
  printTable(out, rows, [
    { title: 'STATE', text: (row) => row.state, paint: (row) => paints[row.state] ?? plain },
    { title: 'SCHEDULED FOR', text: (row) => row.scheduled_for ?? row.file ?? '', shortest: 20 },
    { title: 'JOB ID', text: (row) => row.job_id ?? '', shortest: 12 },
    { title: 'RUN ID', text: (row) => row.run_id ?? '', shortest: 8 },
    { title: 'PIPELINE', text: (row) => row.pipeline_path ?? '', shortest: 8 },
    { title: 'TRIES', text: (row) => (row.attempts === null ? '' : String(row.attempts)), isRight: true },
    { title: 'ERROR', text: (row) => row.error?.message ?? '', shortest: 6 },
  ])
}

type Opened = NonNullable<QueueStore>

async function show(context: Context, store: Opened): Promise<number> {
  const { findQueued } = await import('../../app/queue-directory.js')
  const run = await findQueued(store, context.args.word(1))
  const row = await rowOf(run)
  if (context.args.flag('json')) {
    const { runView } = await import('../views.js')
    context.out.json({ ...row, run: runView(run) })
    return exitCodes.ok
  }
  const { printFields } = await import('../fields.js')
  printFields(context.out, [
    ['run', row.run_id ?? ''],
    ['job id', row.job_id ?? ''],
    ['id', run.id],
    ['state', row.state],
    ['scheduled for', row.scheduled_for ?? ''],
    ['pipeline', row.pipeline_path ?? ''],
    ['tries', String(row.attempts ?? 0)],
    ['error', row.error === null ? undefined : `${row.error.message} [${row.error.code}]`],
    ['result', run.result === undefined ? undefined : JSON.stringify(run.result)],
  ])
  return exitCodes.ok
}

async function retry(context: Context, store: Opened): Promise<number> {
  const { findQueued, retryQueued } = await import('../../app/queue-directory.js')
  const run = await retryQueued(store, (await findQueued(store, context.args.word(1))).id)
  const row = await rowOf(run)
  if (context.args.flag('json')) context.out.json(row)
  else context.out.line(`${row.run_id} is pending again`)
  return exitCodes.ok
}

async function requeue(context: Context, store: Opened): Promise<number> {
  const { takeBack } = await import('../../app/queue-directory.js')
  const requeued = await takeBack(store)
  if (context.args.flag('json')) context.out.json({ requeued })
  else context.out.line(`${requeued} taken back from workers that are gone`)
  return exitCodes.ok
}

async function purge({ args, out }: Context, store: Opened): Promise<number> {
  const now = systemClock.now()
  const before = now - parseDuration(args.text('older-than') ?? '30d')
  let purged = 0
  for (let count = -1; count !== 0; purged += count) count = await store.prune({ before, limit: 1000, now })
  if (args.flag('json')) out.json({ purged })
  else out.line(`${purged} removed`)
  return exitCodes.ok
}
