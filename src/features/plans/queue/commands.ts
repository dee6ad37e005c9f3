import type { ProgramParts } from '../../feature.js'
import type { openQueue, Queue } from './directory.js'
import type { QueueItem } from './list.js'
import { formatInstant } from '../../../time/instant.js'
import { systemClock } from '../../../time/clock.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { chosenWord, refuseStray } from '../../../cli/framework/actions.js'
import { type Command, type Context, exitCodes, jsonOption } from '../../../cli/framework/command.js'
import { count } from '../../../cli/views/in-words.js'
import { onQueue, queueDirOf, queueDirOption, queueOf, type QueueContext } from './one-shot.js'
import { printTable } from '../../../cli/framework/print/table.js'
import { durationOf } from '../../../cli/framework/times-of.js'
import { usageError } from '../../../cli/framework/usage-error.js'

const actions = ['list', 'show', 'retry', 'requeue', 'purge'] as const
const states = ['pending', 'running', 'done', 'failed', 'cancelled', 'invalid'] as const

/** `rota queue`: looks at a queue directory and puts it in order. */
export const queue = (program: ProgramParts): Command => ({
  name: 'queue',
  about:
    'list shows every run of a queue directory by state, and files that cannot be read as invalid. show prints one run. retry gives a failed or cancelled run another try, now. requeue takes back what dead workers and other programs left in running. purge removes done and failed runs that ended before a time; their ids stay known, so that none is enqueued again.',
  arguments: [
    { name: 'action', help: actions.join(', '), choices: actions },
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
  run: (given) =>
    onQueue(given, async () => {
      const context = { ...given, program }
      const action = actionOf(context)
      const store = await openFor(action, queueOf(context))
      try {
        return await act(context, action, store)
      } finally {
        await store?.close()
      }
    }),
})

type Action = (typeof actions)[number]
type QueueStore = Awaited<ReturnType<typeof openQueue>>

/** Who only looks makes no queue; who changes something makes one of what another program has begun. */
async function openFor(action: Action, queue: Queue): Promise<QueueStore> {
  if (action === 'list' || action === 'show') {
    const opening = await import('./directory.js')
    return await opening.openQueue(queue)
  }
  const { changeQueue } = await import('./runs.js')
  return await changeQueue(queue)
}

function actionOf(context: QueueContext): Action {
  const { args } = context
  const action = chosenWord(args.word(0), { command: 'queue', known: actions })
  const hint = '`rota queue --help` shows examples'
  const needsId = action === 'show' || action === 'retry'
  if (needsId !== (args.optionalWord(1) !== undefined)) {
    const message = needsId ? 'it is missing' : `${action} takes none`
    throw usageError([{ path: '<id>', message }], hint)
  }
  refuseStray(context, action, { command: 'queue', owners: { state: ['list'], 'older-than': ['purge'] } })
  if (action === 'purge') olderThanOf(context)
  return action
}

async function act(context: QueueContext, action: Action, store: QueueStore): Promise<number> {
  if (action === 'list') return await list(context, store)
  if (action === 'show') return await show(context, store)
  if (store === undefined)
    throw new RotaError('STORE_NOT_FOUND', `there is no queue in ${queueDirOf(context)}`)
  switch (action) {
    case 'retry':
      return await retry(context, store)
    case 'requeue':
      return await requeue(context, store)
    case 'purge':
      return await purge(context, store)
  }
}

async function list(context: QueueContext, store: QueueStore): Promise<number> {
  const { args, out } = context
  const { listQueue } = await import('./list.js')
  const items = await listQueue(store, queueOf(context))
  const wanted = args.text('state')
  const shown = items.filter((item) => wanted === undefined || item.state === wanted)
  if (args.flag('json')) out.json(shown.map(view))
  else if (shown.length === 0) out.say('no runs')
  else printItems(context, shown)
  return exitCodes.ok
}

function view(item: QueueItem) {
  const isRun = item.file === undefined
  return {
    state: item.state,
    scheduled_for: item.dueAt === undefined ? null : formatInstant(item.dueAt),
    job_id: isRun || item.jobId !== '' ? item.jobId : null,
    run_id: isRun ? item.runId : null,
    pipeline_path: isRun ? item.pipelinePath : null,
    attempts: isRun ? item.attempts : null,
    error: item.error ?? null,
    file: item.file ?? null,
  }
}

function printItems({ out }: Context, items: readonly QueueItem[]): void {
  const { red, green, yellow, cyan, dim } = out.colors
  const plain = (text: string): string => text
  const paints: Readonly<Record<string, typeof red>> = {
    done: green,
    failed: red,
    running: cyan,
    invalid: yellow,
    cancelled: dim,
  }
  printTable(out, items, [
    { title: 'STATE', text: (item) => item.state, paint: (item) => paints[item.state] ?? plain },
    { title: 'SCHEDULED FOR', text: scheduledText, shortest: 20 },
    { title: 'JOB ID', text: (item) => item.jobId, shortest: 12 },
    { title: 'RUN ID', text: (item) => item.runId, shortest: 8 },
    { title: 'PIPELINE', text: (item) => item.pipelinePath, shortest: 8 },
    { title: 'TRIES', text: (item) => (item.file === undefined ? String(item.attempts) : ''), isRight: true },
    { title: 'ERROR', text: (item) => item.error?.message ?? '', shortest: 6 },
  ])
}

function scheduledText({ dueAt, file }: QueueItem): string {
  return dueAt === undefined ? (file ?? '') : formatInstant(dueAt)
}

type Opened = NonNullable<QueueStore>

async function show(context: QueueContext, store: QueueStore): Promise<number> {
  const { lookUp } = await import('./runs.js')
  const { item, run } = await lookUp(store, context.args.word(1), queueOf(context))
  if (context.args.flag('json')) {
    const { runView } = await import('../../../cli/views/views.js')
    context.out.json({ ...view(item), run: run === undefined ? null : runView(run) })
    return exitCodes.ok
  }
  const { printFields } = await import('../../../cli/framework/print/fields.js')
  printFields(context.out, [
    ['run', item.runId],
    ['job id', item.jobId],
    ['id', item.id],
    ['state', item.state],
    ['scheduled for', scheduledText(item)],
    ['pipeline', item.pipelinePath],
    ['tries', String(item.attempts)],
    ['error', item.error === undefined ? undefined : `${item.error.message} [${item.error.code}]`],
    ['result', run?.result === undefined ? undefined : JSON.stringify(run.result)],
    ['note', run === undefined ? 'another program put it there; it is not taken in yet' : undefined],
  ])
  return exitCodes.ok
}

async function retry(context: QueueContext, store: Opened): Promise<number> {
  const { findQueued, retryQueued } = await import('./runs.js')
  const { itemOf } = await import('./list.js')
  const found = await findQueued(store, context.args.word(1), queueOf(context))
  const run = await retryQueued(store, found)
  const item = itemOf(run)
  if (context.args.flag('json')) context.out.json(view(item))
  else context.out.say(`${item.runId} is pending again`)
  return exitCodes.ok
}

async function requeue(context: QueueContext, store: Opened): Promise<number> {
  const { reclaimQueue } = await import('./work.js')
  const requeued = await reclaimQueue(store, queueOf(context))
  if (context.args.flag('json')) context.out.json({ requeued })
  else context.out.say(`${count(requeued, 'run')} taken back from workers that are gone`)
  return exitCodes.ok
}

function olderThanOf(context: QueueContext): number {
  return durationOf(context, 'older-than', '30d')
}

async function purge(context: QueueContext, store: Opened): Promise<number> {
  const { args, out } = context
  const now = systemClock.now()
  const before = now - olderThanOf(context)
  let purged = 0
  for (let count = -1; count !== 0; purged += count) count = await store.prune({ before, limit: 1000, now })
  const { foreignFiles } = await import('./runs.js')
  const left = await foreignFiles(store, queueOf(context), ['done', 'failed'])
  if (args.flag('json')) out.json({ purged, left })
  else out.say(`${count(purged, 'run')} removed`)
  if (left > 0 && !args.flag('json'))
    out.note(`${count(left, 'run')} of other programs left: their ids are known only by their files`)
  return exitCodes.ok
}
