import { nextInstants } from '../../../app/explain/next-instants.js'
import type { RoundService } from '../../../kernel/trigger/round-spec.js'
import type { Run } from '../../../kernel/run/run.js'
import type { SecretText } from '../../../kernel/definition/secret-text.js'
import type { StoredJob } from '../../../store/port.js'
import type { StoredTrigger } from '../../../kernel/trigger/trigger.js'
import type { Rota } from '../../../app/rota.js'
import { formatDuration } from '../../../time/duration.js'
import { type Command, type Context, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { printFields } from '../../framework/print/fields.js'
import { count, handlerText, partitionText, scheduleText, triggerState } from '../../views/in-words.js'
import { pendingOf } from '../../views/pending-of.js'
import { printRuns } from '../../views/runs-table.js'
import { showRun } from '../../views/show-run.js'
import { shortIdOf } from '../../host/short-id-of.js'
import type { TimeText } from '../../framework/print/time-text.js'
import { timesOf } from '../../framework/times-of.js'
import { unknownName } from '../../options/unknown-name.js'
import { holdView, jobView, runView, triggerView } from '../../views/views.js'
import { looksLikeRunId } from '../../views/why-run.js'
import { withApp } from '../../host/with-app.js'

const kinds = ['trigger', 'job', 'run'] as const

/** `rota show`: shows one thing in full. */
export const show: Command = {
  name: 'show',
  about:
    'Shows a trigger with its policies and newest runs; a job with its triggers; or a run with its attempts.',
  arguments: [
    { name: 'name', help: 'a trigger, a job, or the beginning of a run’s id', completes: 'trigger' },
  ],
  options: [
    { name: 'as', value: 'kind', help: 'what it is, where a name fits more', choices: kinds },
    zoneOption,
    ...storeOptions,
  ],
  examples: [
    { line: 'rota show nightly', meaning: 'a trigger' },
    { line: 'rota show nightly --as job', meaning: 'the job of the same name' },
    { line: 'rota show 01k9w8m2v4', meaning: 'a run' },
  ],
  run: (context) => withApp(context, (app) => showOne(context, app)),
}

async function showOne(context: Context, app: Rota): Promise<number> {
  const { args } = context
  const name = args.word(0)
  const kind = kinds.find((one) => one === args.text('as'))
  const isWanted = (one: (typeof kinds)[number]): boolean => kind === undefined || kind === one
  const store = await app.store()
  const [trigger] = isWanted('trigger') ? await store.triggers({ names: [name] }) : []
  const job = (await app.jobs.list()).find((stored) => stored.job.name === (trigger?.trigger.job ?? name))
  if (trigger !== undefined) return await showTrigger(context, { app, trigger, job })
  if (job !== undefined && isWanted('job')) return await showJob(context, { app, job })
  if (kind === 'run') return await showRun(context, app, name)
  const mayBeRun = isWanted('run') && looksLikeRunId(name)
  const [run] = mayBeRun ? await store.runsByPrefix(name.toLowerCase(), 1) : []
  if (run !== undefined) return await showRun(context, app, name)
  throw await unknownName(app, name, kind)
}

async function showTrigger(
  context: Context,
  { app, trigger: stored, job }: { app: Rota; trigger: StoredTrigger; job: StoredJob | undefined },
): Promise<number> {
  const { args, out } = context
  const { trigger } = stored
  const now = app.now()
  const store = await app.store()
  const holds = await store.holds({ openAt: now })
  const state = triggerState(stored, holds)
  const runs = await app.runs.list({ trigger: trigger.name, limit: 5 })
  const ahead =
    state === 'on' ? nextInstants(trigger.schedule, { after: Math.max(stored.cursorAt, now), count: 2 }) : []
  const hold = holds.find(({ target }) => target === `trigger:${trigger.name}`)
  if (args.flag('json')) {
    out.json({
      kind: 'trigger',
      trigger: triggerView(stored, state),
      job: job === undefined ? null : jobView(job),
      hold: hold === undefined ? null : holdView(hold),
      runs: runs.map(runView),
    })
    return exitCodes.ok
  }
  const times = timesOf(context)
  const { catchUp } = trigger
  const maxAge = catchUp.maxAgeMs === undefined ? '' : `, at most ${formatDuration(catchUp.maxAgeMs)} old`
  const maxRuns = catchUp.mode === 'all' ? `, at most ${catchUp.maxRuns}` : ''
  printFields(out, [
    ['trigger', trigger.name],
    [
      'state',
      hold === undefined ? state : `${state} by ${hold.actor} since ${times.full(hold.fromAt)} ${hold.note}`,
    ],
    ['when', scheduleText(trigger.schedule)],
    ['next', aheadText(ahead, times) ?? nextOf(stored, (at) => times.exact(at))],
    ['planned up to', times.exact(stored.cursorAt)],
    ['catch-up', `${catchUp.mode}${maxRuns}${maxAge}; on time within ${formatDuration(catchUp.graceMs)}`],
    ['overlap', trigger.overlap],
    ['jitter', trigger.jitterMs === 0 ? undefined : formatDuration(trigger.jitterMs)],
    ['spread', trigger.spreadMs === 0 ? undefined : formatDuration(trigger.spreadMs)],
    ['partition', partitionText(trigger.partition)],
    ['priority', trigger.priority?.toString()],
    ['payload', trigger.payload === undefined ? undefined : JSON.stringify(trigger.payload)],
    ['source', `${stored.source}, version ${stored.version} since ${times.full(stored.definedAt)}`],
    ['services', trigger.round?.services.map(serviceText).join(', ')],
    ['job', trigger.round === undefined ? trigger.job : undefined],
    ['what', whatText(stored, job)],
  ])
  await printNewest(context, app, runs)
  return exitCodes.ok
}

function serviceText({ job, everyMs }: RoundService): string {
  return `${job} every ${formatDuration(everyMs)}`
}

function whatText({ trigger }: StoredTrigger, job: StoredJob | undefined): string | undefined {
  if (trigger.round !== undefined) return undefined
  return job === undefined ? 'its job is not defined' : handlerText(job.job.handler)
}

function aheadText(ahead: readonly number[], times: TimeText): string | undefined {
  const texts = ahead.map((at) => times.full(at))
  return texts.length === 0 ? undefined : `${texts.join(', ')} (${times.zone})`
}

function nextOf({ nextAt, chainRun }: StoredTrigger, format: (at: number) => string): string | undefined {
  if (nextAt !== undefined) return format(nextAt)
  return chainRun === undefined ? undefined : 'counted from the end of its run'
}

async function showJob(
  context: Context,
  { app, job: stored }: { app: Rota; job: StoredJob },
): Promise<number> {
  const { args, out } = context
  const { job, source } = stored
  const isUsed = ({ trigger, active }: StoredTrigger): boolean =>
    active && (trigger.round?.services ?? [trigger]).some((one) => one.job === job.name)
  const triggers = (await app.triggers.list()).filter(isUsed)
  const runs = await app.runs.list({ job: job.name, limit: 5 })
  if (args.flag('json')) {
    const names = triggers.map(({ trigger }) => trigger.name)
    out.json({ kind: 'job', job: jobView(stored), triggers: names, runs: runs.map(runView) })
    return exitCodes.ok
  }
  const { retry } = job
  const waits = `${retry.backoff} from ${formatDuration(retry.delayMs)} to ${formatDuration(retry.maxDelayMs)}`
  const secrets = job.handler.kind === 'shell' ? job.handler.env : undefined
  printFields(out, [
    ['job', job.name],
    ['what', handlerText(job.handler)],
    ['directory', job.handler.kind === 'shell' ? job.handler.cwd : undefined],
    ['environment', secrets === undefined ? undefined : textNames(secrets)],
    ['headers', job.handler.kind === 'http' ? textNames(job.handler.headers ?? {}) : undefined],
    ['queue', job.queue],
    ['priority', String(job.priority)],
    ['tries', retry.attempts === 1 ? '1, no retry' : `${retry.attempts}, waits ${waits}`],
    ['timeout', job.timeoutMs === undefined ? 'none' : formatDuration(job.timeoutMs)],
    ['at once', job.concurrency === undefined ? 'no limit' : String(job.concurrency)],
    ['quarantined after', count(job.maxCrashes, 'lost worker')],
    ['source', `${source}${job.ended === true ? ', which no longer defines it' : ''}`],
    [
      'triggers',
      triggers.map(({ trigger }) => trigger.name).join(', ') ||
        'none; `rota run` and `rota enqueue` start it',
    ],
  ])
  await printNewest(context, app, runs)
  return exitCodes.ok
}

/** Names without their texts, which may be secrets; with where those stand that stand elsewhere. */
function textNames(texts: Readonly<Record<string, SecretText>>): string {
  const named = Object.entries(texts).map(([name, text]) => {
    if (typeof text === 'string') return name
    return `${name} (${text.env === undefined ? `file ${text.file}` : `variable ${text.env}`})`
  })
  return named.join(', ')
}

async function printNewest(context: Context, app: Rota, runs: readonly Run[]): Promise<void> {
  const { out } = context
  const ids = runs.map(({ id }) => id)
  out.line()
  if (runs.length === 0) out.say('no runs yet')
  else {
    const found = { shortId: await shortIdOf(app, ids), pending: await pendingOf(app, runs) }
    printRuns(out, runs, { times: timesOf(context), ...found })
  }
}
