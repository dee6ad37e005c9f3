import type { CommandsApp } from './jobs-option.js'
import {
  type Command,
  type Context,
  exitCodes,
  onApp,
  changeOptions,
  storeOptions,
  zoneOption,
} from '../../cli/framework/command.js'
import { parseMoment } from '../../time/moment.js'
import { readAs } from '../../cli/framework/option-names.js'
import { type Fields, printFields } from '../../cli/framework/print/fields.js'
import { printList } from '../../cli/framework/print/table.js'
import type { TimeText } from '../../cli/framework/print/time-text.js'
import { count } from '../../cli/framework/print/words.js'
import type { Argument } from '../../cli/framework/syntax.js'
import { hereOf } from '../../cli/framework/times-of.js'
import { usageError } from '../../cli/framework/usage-error.js'
import { quotedText } from '../../text/error-text.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import type { AddJob } from './command-jobs.js'
import { jobsFileOf, jobsOption, jobsPathOf } from './jobs-option.js'
import { type CommandJobInfo, jobView } from './state.js'

const jobId: Argument = { name: 'id', help: 'the id of the job' }
const sharedOptions = [jobsOption, zoneOption, ...storeOptions]
const changingOptions = [jobsOption, zoneOption, ...changeOptions]
const hint = 'see `rota job add --help`'

const add: Command<CommandsApp> = {
  name: 'add',
  summary: 'add a command job',
  about:
    'Adds a command job, which a running engine schedules at once. Its command is performed by the job of that name, else by the handler of all commands of the app.',
  arguments: [{ ...jobId, help: 'the id it gets; default: a random one', isOptional: true }],
  options: [
    { name: 'schedule', value: 'expression', help: 'a cron expression in UTC, five or six fields' },
    {
      name: 'at',
      key: 'executeAt',
      value: 'time',
      help: 'once, such as 2026-01-05T09:00:00Z, tomorrow or +2h',
    },
    { name: 'command', value: 'text', help: 'the command', isContent: true, isRequired: true },
    { name: 'user', key: 'userId', value: 'id', help: 'the user it is for' },
    { name: 'metadata', value: 'name=text', help: 'further values', isList: true, isContent: true },
    ...changingOptions,
  ],
  examples: {
    "rota job add --schedule '0 9 * * *' --command check_status --user user1": 'every day',
    'rota job add job_124 --at +2h --command remind --metadata chat=42': 'once',
  },
  run: onApp(
    async (app, context) => {
      await useFile(context, app)
      const added = await app.commands.add(readJob(context), dryRunOf(context))
      const due = added.nextAt === undefined ? '' : `, due ${formatInstant(added.nextAt)}`
      context.out.show(jobView(added), `added job ${added.id}${due}`)
    },
    // Without the file, because a dry run must not write to it.
    (context) =>
      dryRunOf(context).dryRun
        ? { orEmpty: true }
        : { create: (empty) => empty.commands.add(readJob(context)) },
  ),
}

function readJob(context: Context<CommandsApp>): AddJob {
  const { args } = context
  const at = args.text('at')
  const schedule = args.text('schedule')
  if ((at === undefined) === (schedule === undefined)) {
    const message = at === undefined ? 'one of the two is required' : 'cannot be combined'
    throw usageError([{ path: '--schedule, --at', message }], hint)
  }
  const when =
    at === undefined
      ? { type: 'recurring' as const, schedule }
      : { type: 'oneshot' as const, executeAt: executeAt(context, at) }
  return {
    ...when,
    id: args.optionalWord(0),
    command: args.text('command') ?? '',
    userId: args.text('user'),
    metadata: readMetadata(context),
  }
}

/** A full time without an offset is UTC, as everywhere in command jobs, unless a zone is given. */
function executeAt(context: Context<CommandsApp>, text: string): string | Date {
  if (/^\d{4}-\d\d-\d\d[T ]/.test(text) && !context.args.flag('zone')) return text
  return new Date(readAs('--at', () => parseMoment(text, { ...hereOf(context), bare: 'ahead' })))
}

function readMetadata({ args }: Context<CommandsApp>): Record<string, string> {
  const pairs = args.list('metadata').map((pair) => {
    const equals = pair.indexOf('=')
    if (equals > 0) return [pair.slice(0, equals), pair.slice(equals + 1)] as const
    const message = `${quotedText(pair)} has no name or no =`
    throw usageError([{ path: '--metadata', message, allowed: 'name=text' }], hint)
  })
  return Object.fromEntries(pairs)
}

const remove: Command<CommandsApp> = {
  name: 'remove',
  summary: 'remove a command job',
  about: 'Removes a command job. A running run finishes, pending runs are cancelled.',
  arguments: [jobId],
  options: changingOptions,
  examples: { 'rota job remove job_124': 'no further runs' },
  run: onApp(async (app, context) => {
    await useFile(context, app)
    const job = await app.commands.remove(context.args.word(0), dryRunOf(context))
    context.out.show(jobView(job), `job ${job.id} is ${job.state}`)
  }),
}

const get: Command<CommandsApp> = {
  name: 'get',
  summary: 'show one command job',
  arguments: [jobId],
  options: sharedOptions,
  examples: { 'rota job get job_124': 'its schedule, state and next run' },
  run: onApp(async (app, context) => {
    const { args, out } = context
    const code = await readFile(context, app)
    const job = await app.commands.get(args.word(0))
    out.show(jobView(job), () => printFields(out, job, jobFields))
    return code
  }, orEmpty),
}

/** A jobs file can have jobs before there is a store. */
function orEmpty({ args }: Context<CommandsApp>) {
  return { orEmpty: args.flag(jobsOption.name) }
}

const jobFields: Fields<CommandJobInfo> = {
  id: 'id',
  type: 'type',
  state: 'state',
  schedule: 'schedule',
  'execute at': ({ executeAt: at }, times) => momentText(at, times),
  next: ({ nextAt }, times) => momentText(nextAt, times),
  command: ({ command, isShell }) => (isShell ? `${command} (run by sh)` : command),
  user: 'userId',
  metadata: ({ metadata }) => (Object.keys(metadata).length === 0 ? undefined : JSON.stringify(metadata)),
  'executed at': ({ executedAt }, times) => momentText(executedAt, times),
  source: 'source',
}

function momentText(at: Instant | undefined, times: TimeText): string | undefined {
  return at === undefined ? undefined : `${times.exact(at)} (${times.distance(at)})`
}

const list: Command<CommandsApp> = {
  name: 'list',
  summary: 'list the command jobs',
  options: sharedOptions,
  examples: { 'rota job list': 'all, with their state' },
  run: onApp(async (app, context) => {
    const code = await readFile(context, app)
    printList(context.out, await app.commands.list(), {
      empty: 'no command jobs; `rota job add` adds one',
      columns: [
        { key: 'id', title: 'JOB', shortest: 12 },
        { key: 'state', colors: { executed: 'dim', executing: 'cyan', completed: 'green' } },
        { title: 'WHEN', text: whenText, shortest: 11 },
        'nextAt',
        { key: 'command', shortest: 10 },
        { key: 'userId', title: 'USER', shortest: 6 },
      ],
      json: jobView,
    })
    return code
  }, orEmpty),
}

function whenText({ schedule, executeAt: at }: CommandJobInfo): string {
  return schedule ?? (at === undefined ? '' : formatInstant(at))
}

const run: Command<CommandsApp> = {
  name: 'run',
  summary: 'run a command job now',
  arguments: [jobId],
  options: changingOptions,
  examples: { 'rota job run job_124': 'now, independent of its schedule' },
  run: onApp(async (app, context) => {
    await useFile(context, app)
    const { id } = await app.commands.runNow(context.args.word(0), dryRunOf(context))
    context.out.show({ id }, () => context.out.line(id))
  }),
}

const cleanup: Command<CommandsApp> = {
  name: 'cleanup',
  summary: 'remove executed one-shot jobs',
  about: 'Removes the one-shot jobs that were executed; the engine does this once a day, too.',
  options: changingOptions,
  examples: { 'rota job cleanup --dry-run': 'which jobs it would remove' },
  run: onApp(async (app, context) => {
    const { out } = context
    await useFile(context, app)
    const { dryRun } = dryRunOf(context)
    const executed = await app.commands.cleanup({ dryRun })
    out.show({ removed: dryRun ? [] : executed, executed }, () => {
      for (const id of executed) out.line(id)
      out.say(`${count(executed.length, 'executed one-shot')} removed`)
    })
  }),
}

/** `rota job`: command jobs, added and removed while the engine runs. */
export const job: Command<CommandsApp> = {
  name: 'job',
  about:
    'A command job is a command with a schedule or a time, for a user. It can be added and removed at any time.',
  examples: {
    "rota job add --schedule '0 9 * * *' --command check_status --user user1": 'every day',
    'rota job list': 'all, with their state',
  },
  subcommands: [add, remove, get, list, run, cleanup],
}

function dryRunOf({ args }: Context<CommandsApp>): { readonly dryRun: boolean } {
  return { dryRun: args.flag('dry-run') }
}

/** Uses the given jobs file for a change; a faulty file makes the change fail. */
async function useFile(context: Context<CommandsApp>, app: CommandsApp): Promise<void> {
  const file = jobsFileOf(context)
  if (file !== undefined) app.commands.useFile(file)
  await checkFile(context, app)
}

/** Uses the given jobs file for reading; returns the exit code, which says whether all of it could be read. */
async function readFile(context: Context<CommandsApp>, app: CommandsApp): Promise<number> {
  const file = jobsPathOf(context)
  if (file !== undefined) app.commands.useFile(file)
  const error = await checkFile(context, app)
  if (error === undefined) return exitCodes.ok
  const { reportFailure } = await import('../../cli/framework/failure.js')
  reportFailure(error, context)
  return exitCodes.failed
}

async function checkFile({ out }: Context<CommandsApp>, app: CommandsApp): Promise<unknown> {
  const { error, warnings } = await app.commands.checkFile()
  for (const warning of warnings) out.note(`warning: ${warning}`)
  return error
}
