import type { AddJob, CommandJobInfo } from './command-jobs.js'
import type { Rota } from '../../app/rota.js'
import { parseMoment } from '../../cli/framework/moment.js'
import { chosenWord, type OptionOwners, refuseStray } from '../../cli/framework/actions.js'
import {
  type Command,
  type Context,
  exitCodes,
  storeOptions,
  zoneOption,
} from '../../cli/framework/command.js'
import { printFields } from '../../cli/framework/print/fields.js'
import { count } from '../../cli/views/in-words.js'
import { quotedText } from '../../text/error-text.js'
import { readAs, withOptionNames } from '../../cli/framework/option-names.js'
import { jobsFileOf, jobsOption, jobsPathOf } from './jobs-option.js'
import { commandJobView } from './view.js'
import { printTable } from '../../cli/framework/print/table.js'
import { hereOf, timesOf } from '../../cli/framework/times-of.js'
import { usageError } from '../../cli/framework/usage-error.js'
import { withApp } from '../../cli/host/with-app.js'

const actions = ['add', 'remove', 'get', 'list', 'run', 'cleanup'] as const

/** `rota job`: command jobs, added and removed while everything runs. */
export const job: Command = {
  name: 'job',
  about:
    'A command job says which command is due when, for whom. add stores one, and with that it is scheduled, also in an engine that runs already. get shows one, list all, run starts one now, remove ends one: what runs may finish, what waits is cancelled. cleanup removes one-shots that were executed, which the engine also does once a day. A command goes to the job of its name, else to the handler that the app gave `app.commands.handle()`.',
  arguments: [
    { name: 'action', help: actions.join(', '), choices: actions },
    { name: 'id', help: 'which job; for add the id it gets, else a random one', isOptional: true },
  ],
  options: [
    { name: 'schedule', value: 'expression', help: 'add: a cron expression in UTC, five or six fields' },
    { name: 'at', value: 'time', help: 'add: once, such as 2026-01-05T09:00:00Z, tomorrow or +2h' },
    { name: 'command', value: 'text', help: 'add: what is to be done', isContent: true },
    { name: 'user', value: 'id', help: 'add: for whom' },
    {
      name: 'metadata',
      value: 'name=text',
      help: 'add: what else it is given',
      isList: true,
      isContent: true,
    },
    { name: 'dry-run', help: 'cleanup: only say what would go' },
    jobsOption,
    zoneOption,
    ...storeOptions,
  ],
  examples: [
    { line: "rota job add --schedule '0 9 * * *' --command check_status --user user1", meaning: 'every day' },
    { line: 'rota job add job_124 --at +2h --command remind --metadata chat=42', meaning: 'once' },
    { line: 'rota job list', meaning: 'all, with their state' },
    { line: 'rota job run job_124', meaning: 'now, beside its schedule' },
    { line: 'rota job cleanup --dry-run', meaning: 'which one-shots are done with' },
  ],
  run: (context) => {
    const action = actionOf(context)
    const orEmpty = context.args.flag('jobs') && (action === 'list' || action === 'get')
    // Without the file: trying must not write to it.
    const create = action === 'add' ? (empty: Rota) => empty.commands.add(readJob(context)) : undefined
    return withApp(context, (app) => act(context, action, app), { create, orEmpty })
  },
}

type Action = (typeof actions)[number]

const hint = '`rota job --help` shows examples'

function actionOf(context: Context): Action {
  const { args } = context
  const action = chosenWord(args.word(0), { command: 'job', known: actions })
  const hasId = args.optionalWord(1) !== undefined
  const needsId = action === 'remove' || action === 'get' || action === 'run'
  if (needsId && !hasId) throw usageError([{ path: '<id>', message: 'it is missing' }], hint)
  const takesNone = action === 'list' || action === 'cleanup'
  if (takesNone && hasId) throw usageError([{ path: '<id>', message: `${action} takes none` }], hint)
  refuseStray(context, action, { command: 'job', owners })
  return action
}

const owners: OptionOwners<Action> = {
  schedule: ['add'],
  at: ['add'],
  command: ['add'],
  user: ['add'],
  metadata: ['add'],
  'dry-run': ['cleanup'],
}

async function act(context: Context, action: Action, app: Rota): Promise<number> {
  const file = action === 'list' || action === 'get' ? jobsPathOf(context) : jobsFileOf(context)
  if (file !== undefined) app.commands.useFile(file)
  const isSound = await checkFile(context, action, app)
  const code = await perform(context, action, app)
  return isSound ? code : Math.max(code, exitCodes.failed)
}

/** Says what is wrong with the jobs file; whoever changes it is refused by what is wrong, whoever looks sees what is known. */
async function checkFile({ args, out, environment }: Context, action: Action, app: Rota): Promise<boolean> {
  const { error, warnings } = await app.commands.checkFile()
  for (const warning of warnings) out.note(`warning: ${warning}`)
  if (error === undefined || (action !== 'list' && action !== 'get')) return true
  const { reportFailure } = await import('../../cli/framework/failure.js')
  reportFailure(error, {
    stderr: out.stderr,
    isJson: args.flag('json'),
    isDebug: environment['ROTA_DEBUG'] === '1',
  })
  return false
}

async function perform(context: Context, action: Action, app: Rota): Promise<number> {
  const { args } = context
  const id = args.word(1)
  switch (action) {
    case 'add':
      return tell(context, await addJob(context, app), addedText)
    case 'remove':
      return tell(context, await app.commands.remove(id), (job) => `job ${job.id} is ${job.state}`)
    case 'get':
      return show(context, await app.commands.get(id))
    case 'list':
      return list(context, await app.commands.list())
    case 'run':
      return run(context, await app.commands.runNow(id))
    case 'cleanup':
      return cleanup(context, await app.commands.cleanup({ dryRun: args.flag('dry-run') }))
  }
}

async function addJob(context: Context, app: Rota): Promise<CommandJobInfo> {
  const job = readJob(context)
  return await withOptionNames(optionNames, () => app.commands.add(job))
}

const optionNames = {
  id: '<id>',
  schedule: '--schedule',
  executeAt: '--at',
  command: '--command',
  userId: '--user',
  metadata: '--metadata',
}

function readJob(context: Context): AddJob {
  const { args } = context
  const at = args.text('at')
  const schedule = args.text('schedule')
  if ((at === undefined) === (schedule === undefined)) {
    const message = at === undefined ? 'nothing says when it is due' : 'they cannot be combined'
    throw usageError([{ path: '--schedule, --at', message, allowed: 'exactly one of them' }], hint)
  }
  const command = args.text('command')
  if (command === undefined) throw usageError([{ path: '--command', message: 'it is missing' }], hint)
  const when =
    at === undefined
      ? { type: 'recurring' as const, schedule }
      : { type: 'oneshot' as const, executeAt: executeAt(context, at) }
  return {
    ...when,
    id: args.optionalWord(1),
    command,
    userId: args.text('user'),
    metadata: readMetadata(context),
  }
}

/** A time that is written in full is UTC unless it says otherwise, as everywhere in these jobs. */
function executeAt({ args }: Context, text: string): string | Date {
  if (/^\d{4}-\d\d-\d\d[T ]/.test(text) && !args.flag('zone')) return text
  const here = hereOf({ args } as Context)
  return new Date(readAs('--at', () => parseMoment(text, { ...here, bare: 'ahead' })))
}

function readMetadata({ args }: Context): Record<string, string> {
  const pairs = args.list('metadata').map((pair) => {
    const equals = pair.indexOf('=')
    if (equals > 0) return [pair.slice(0, equals), pair.slice(equals + 1)] as const
    const message = `${quotedText(pair)} has no name or no =`
    throw usageError([{ path: '--metadata', message, allowed: 'name=text' }], hint)
  })
  return Object.fromEntries(pairs)
}

function tell({ args, out }: Context, job: CommandJobInfo, text: (job: CommandJobInfo) => string): number {
  if (args.flag('json')) out.json(commandJobView(job))
  else out.say(text(job))
  return exitCodes.ok
}

function addedText({ id, nextAt }: CommandJobInfo): string {
  return `added job ${id}${nextAt === undefined ? '' : `, due ${nextAt.toISOString().replace('.000Z', 'Z')}`}`
}

function show(context: Context, job: CommandJobInfo): number {
  const { args, out } = context
  if (args.flag('json')) {
    out.json(commandJobView(job))
    return exitCodes.ok
  }
  const times = timesOf(context)
  const moment = (at: Date | undefined): string | undefined =>
    at === undefined ? undefined : `${times.exact(at.getTime())} (${times.distance(at.getTime())})`
  printFields(out, [
    ['id', job.id],
    ['type', job.type],
    ['state', job.state],
    ['schedule', job.schedule],
    ['execute at', moment(job.executeAt)],
    ['next', moment(job.nextAt)],
    ['command', job.isShell ? `${job.command} (a line for sh)` : job.command],
    ['user', job.userId],
    ['metadata', Object.keys(job.metadata).length === 0 ? undefined : JSON.stringify(job.metadata)],
    ['executed at', moment(job.executedAt)],
    ['source', job.source],
  ])
  return exitCodes.ok
}

function list(context: Context, jobs: readonly CommandJobInfo[]): number {
  const { args, out } = context
  if (args.flag('json')) out.json(jobs.map(commandJobView))
  else if (jobs.length === 0) out.say('no command jobs; `rota job add` adds one')
  else {
    const times = timesOf(context)
    const { green, cyan, dim } = out.colors
    const paints: Readonly<Record<string, typeof green>> = {
      executed: dim,
      executing: cyan,
      completed: green,
    }
    printTable(out, jobs, [
      { title: 'JOB', text: ({ id }) => id, shortest: 12 },
      { title: 'STATE', text: ({ state }) => state, paint: ({ state }) => paints[state] ?? ((text) => text) },
      { title: 'WHEN', text: whenText, shortest: 11 },
      {
        title: 'NEXT',
        text: ({ nextAt }) => (nextAt === undefined ? '' : times.short(nextAt.getTime())),
      },
      { title: 'COMMAND', text: ({ command }) => command, shortest: 10 },
      { title: 'USER', text: ({ userId }) => userId, shortest: 6 },
    ])
  }
  return exitCodes.ok
}

function whenText({ schedule, executeAt: at }: CommandJobInfo): string {
  return schedule ?? at?.toISOString().replace('.000Z', 'Z') ?? ''
}

function run({ args, out }: Context, { id }: { readonly id: string }): number {
  if (args.flag('json')) out.json({ id })
  else out.line(id)
  return exitCodes.ok
}

function cleanup({ args, out }: Context, ids: readonly string[]): number {
  const isDry = args.flag('dry-run')
  if (args.flag('json')) out.json({ removed: isDry ? [] : ids, executed: ids })
  else {
    for (const id of ids) out.line(id)
    out.say(`${count(ids.length, 'executed one-shot')} ${isDry ? 'to clean up' : 'cleaned up'}`)
  }
  return exitCodes.ok
}
