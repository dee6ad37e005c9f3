import { type Command, type Context, jsonOption } from '../../../cli/framework/command.js'
import { printFields } from '../../../cli/framework/print/fields.js'
import { type Columns, printList } from '../../../cli/framework/print/table.js'
import { runView } from '../../../wire/views/runs.js'
import { count } from '../../../cli/framework/print/words.js'
import type { Argument } from '../../../cli/framework/syntax.js'
import { durationOf } from '../../../cli/framework/times-of.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { systemClock } from '../../../time/clock.js'
import { formatInstant } from '../../../time/instant.js'
import type { ProgramParts } from '../../feature.js'
import type { openQueue, Queue } from './directory.js'
import type { QueueItem } from './list.js'
import { onQueue, queueDirOption, queueOf, type QueueContext } from './one-shot.js'

const states = ['pending', 'running', 'done', 'failed', 'cancelled', 'invalid'] as const

const runId: Argument = { name: 'id', help: 'a job_id, run_id or id' }

/** `rota queue`: lists and repairs a queue directory. */
export const queue = (program: ProgramParts): Command => ({
  name: 'queue',
  about:
    'Lists the runs of a queue directory, which `rota schedule` fills and `rota work` empties, and repairs it.',
  examples: {
    'rota queue list --queue-dir data/queue': 'all of it',
    'rota queue retry 96b0037ff184': 'once more',
  },
  subcommands: [list, show, retry, requeue, purge].map((make) => make(program)),
})

/** A subcommand. One that only reads creates no queue; one that changes something needs a queue. */
function onStore<Opened extends QueueStore>(
  program: ProgramParts,
  open: (queue: Queue) => Promise<Opened>,
  act: (context: QueueContext, store: Opened) => Promise<void>,
): NonNullable<Command['run']> {
  return (given) =>
    onQueue(given, async () => {
      const context = { ...given, program }
      const store = await open(queueOf(context))
      try {
        return await act(context, store)
      } finally {
        await store?.close()
      }
    })
}

type QueueStore = Awaited<ReturnType<typeof openQueue>>

async function toRead(queue: Queue): Promise<QueueStore> {
  return await (await import('./directory.js')).openQueue(queue)
}

/** The directories that another program created become a queue. */
async function toChange(queue: Queue): Promise<NonNullable<QueueStore>> {
  const { changeQueue } = await import('./runs.js')
  const store = await changeQueue(queue)
  if (store !== undefined) return store
  throw new RotaError('STORE_NOT_FOUND', `there is no queue in ${queue.path}`)
}

const list = (program: ProgramParts): Command => ({
  name: 'list',
  summary: 'list the runs of a queue',
  about: 'Lists every run of a queue directory by state, and the files that cannot be read as invalid.',
  options: [
    queueDirOption,
    { name: 'state', value: 'state', help: 'only runs in this state', choices: states },
    jsonOption,
  ],
  examples: {
    'rota queue list --queue-dir data/queue': 'all of it',
    'rota queue list --state failed --json': 'what failed, for a program',
  },
  run: onStore(program, toRead, async (context, store) => {
    const { listQueue } = await import('./list.js')
    const wanted = context.args.text('state')
    const items = await listQueue(store, queueOf(context))
    printList(
      context.out,
      items.filter((item) => wanted === undefined || item.state === wanted),
      { empty: 'no runs', columns, json: view },
    )
  }),
})

function view(item: QueueItem) {
  const isRun = item.file === undefined
  return {
    state: item.state,
    scheduledFor: item.dueAt === undefined ? undefined : formatInstant(item.dueAt),
    jobId: isRun || item.jobId !== '' ? item.jobId : undefined,
    runId: isRun ? item.runId : undefined,
    pipelinePath: isRun ? item.pipelinePath : undefined,
    attempts: isRun ? item.attempts : undefined,
    error: item.error,
    file: item.file,
  }
}

const columns: Columns<QueueItem> = [
  {
    key: 'state',
    colors: { done: 'green', failed: 'red', running: 'cyan', invalid: 'yellow', cancelled: 'dim' },
  },
  { title: 'SCHEDULED FOR', text: scheduledText, shortest: 20 },
  { key: 'jobId', shortest: 12 },
  { key: 'runId', shortest: 8 },
  { key: 'pipelinePath', title: 'PIPELINE', shortest: 8 },
  { title: 'TRIES', text: (item) => (item.file === undefined ? item.attempts : undefined) },
  { title: 'ERROR', text: (item) => item.error?.message, shortest: 6 },
]

function scheduledText({ dueAt, file }: QueueItem): string {
  return dueAt === undefined ? (file ?? '') : formatInstant(dueAt)
}

const show = (program: ProgramParts): Command => ({
  name: 'show',
  summary: 'show one run of a queue',
  arguments: [runId],
  options: [queueDirOption, jsonOption],
  examples: { 'rota queue show 96b0037ff184': 'its state, error and result' },
  run: onStore(program, toRead, async (context, store) => {
    const { lookUp } = await import('./runs.js')
    const { item, run } = await lookUp(store, context.args.word(0), queueOf(context))
    context.out.show({ ...view(item), run: run && runView(run) }, () => {
      printFields(context.out, item, {
        run: 'runId',
        'job id': 'jobId',
        id: 'id',
        state: 'state',
        'scheduled for': scheduledText,
        pipeline: 'pipelinePath',
        tries: 'attempts',
        error: ({ error }) => error && `${error.message} [${error.code}]`,
        result: () => JSON.stringify(run?.result),
        note: () => (run === undefined ? 'another program put it there; it is not imported yet' : undefined),
      })
    })
  }),
})

const retry = (program: ProgramParts): Command => ({
  name: 'retry',
  summary: 'retry a failed or cancelled run',
  arguments: [runId],
  options: [queueDirOption, jsonOption],
  examples: { 'rota queue retry 96b0037ff184': 'once more' },
  run: onStore(program, toChange, async (context, store) => {
    const { findQueued, retryQueued } = await import('./runs.js')
    const { itemOf } = await import('./list.js')
    const found = await findQueued(store, context.args.word(0), queueOf(context))
    const item = itemOf(await retryQueued(store, found))
    context.out.show(view(item), `${item.runId} is pending again`)
  }),
})

const requeue = (program: ProgramParts): Command => ({
  name: 'requeue',
  summary: 'reclaim the runs of dead workers',
  about: 'Returns the runs that dead workers and other programs left in running to pending.',
  options: [queueDirOption, jsonOption],
  examples: { 'rota queue requeue': 'after a crash' },
  run: onStore(program, toChange, async (context, store) => {
    const { reclaimQueue } = await import('./work.js')
    const requeued = await reclaimQueue(store, queueOf(context))
    context.out.show({ requeued }, `reclaimed ${count(requeued, 'run')} of dead workers`)
  }),
})

const purge = (program: ProgramParts): Command => {
  const remove = onStore(program, toChange, async (context, store) => {
    const { out } = context
    const now = systemClock.now()
    const before = now - olderThanOf(context)
    let purged = 0
    for (let count = -1; count !== 0; purged += count) count = await store.prune({ before, limit: 1000, now })
    const { foreignFiles } = await import('./runs.js')
    const left = await foreignFiles(store, queueOf(context), ['done', 'failed'])
    out.show({ purged, left }, () => {
      out.say(`removed ${count(purged, 'run')}`)
      if (left > 0)
        out.note(`${count(left, 'run')} of other programs not removed: only their files contain their ids`)
    })
  })
  return {
    name: 'purge',
    summary: 'remove old done and failed runs',
    about:
      'Removes done and failed runs that ended before a time. Their ids stay known, so that none is enqueued again.',
    options: [
      queueDirOption,
      { name: 'older-than', value: 'duration', help: 'the age; default: 30d' },
      jsonOption,
    ],
    examples: { 'rota queue purge --older-than 7d': 'what ended more than a week ago' },
    run: (context) => {
      // Refused before a queue is opened.
      olderThanOf(context)
      return remove(context)
    },
  }
}

function olderThanOf(context: Context): number {
  return durationOf(context, 'older-than', '30d')
}
