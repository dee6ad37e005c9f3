import { slaText } from '../../../kernel/sla/sla.js'
import { nextInstants } from '../../../app/explain/next-instants.js'
import { loadTriggerKinds } from '../../../app/features.js'
import type { App } from '../../../app/rota.js'
import { describeTrigger } from '../../../engine/trigger-kind.js'
import type { JobRetention } from '../../../kernel/job/retention.js'
import type { SecretText } from '../../../kernel/definition/secret-text.js'
import type { RateLimit } from '../../../kernel/job/rate-limit.js'
import type { Hold } from '../../../kernel/hold/hold.js'
import type { Run } from '../../../kernel/run/run.js'
import type { StoredTrigger } from '../../../kernel/trigger/trigger.js'
import type { StoredJob } from '../../../store/port.js'
import { formatDuration } from '../../../time/duration.js'
import type { Instant } from '../../../time/instant.js'
import { type Command, type Context, onApp, storeOptions, zoneOption } from '../../framework/command.js'
import { type Fields, printFields } from '../../framework/print/fields.js'
import type { TimeText } from '../../framework/print/time-text.js'
import { holdView, jobView, triggerView } from '../../../wire/views/definitions.js'
import { runView } from '../../../wire/views/runs.js'
import { triggerState, type TriggerState } from '../../../wire/views/trigger-state.js'
import { count } from '../../framework/print/words.js'
import { unknownName } from '../../options/unknown-name.js'
import { handlerText, partitionText } from '../../views/definition-text.js'
import { pendingOf } from '../../views/pending-of.js'
import { printRuns } from '../../views/runs-table.js'
import { showRun } from '../../views/show-run.js'
import { looksLikeRunId } from '../../views/why-run.js'

const kinds = ['trigger', 'job', 'run'] as const

/** `rota show`: shows a trigger, job or run in full. */
export const show: Command<App> = {
  name: 'show',
  about:
    'Shows a trigger with its policies and newest runs; a job with its triggers; or a run with its attempts.',
  arguments: [
    { name: 'name', help: 'a trigger, a job, or the beginning of a run’s id', completes: 'trigger' },
  ],
  options: [
    { name: 'as', value: 'kind', help: 'what it is, if several things have that name', choices: kinds },
    zoneOption,
    ...storeOptions,
  ],
  examples: {
    'rota show nightly': 'a trigger',
    'rota show nightly --as job': 'the job of the same name',
    'rota show 01k9w8m2v4': 'a run',
  },
  run: onApp(showOne),
}

async function showOne(app: App, context: Context<App>): Promise<void> {
  const { args } = context
  const name = args.word(0)
  const kind = kinds.find((one) => one === args.text('as'))
  const isWanted = (one: (typeof kinds)[number]): boolean => kind === undefined || kind === one
  const store = await app.store()
  const [trigger] = isWanted('trigger') ? await store.triggers({ names: [name] }) : []
  const job = (await app.jobs.list()).find((stored) => stored.job.name === (trigger?.trigger.job ?? name))
  if (trigger !== undefined) return await showTrigger(context, { app, stored: trigger, job })
  if (job !== undefined && isWanted('job')) return await showJob(context, app, job)
  if (kind === 'run') return await showRun(context, app, name)
  const mayBeRun = kind === undefined && looksLikeRunId(name)
  const [run] = mayBeRun ? await store.runsByPrefix(name.toLowerCase(), 1) : []
  if (run === undefined) throw await unknownName(app, name, kind)
  await showRun(context, app, name)
}

interface ShownTrigger {
  readonly stored: StoredTrigger
  readonly job: StoredJob | undefined
  readonly state: TriggerState
  /** When it is due, in a few words. */
  readonly when: string
  readonly hold: Hold | undefined
  /** The next due instants. */
  readonly ahead: readonly Instant[]
}

async function showTrigger(
  context: Context<App>,
  { app, stored, job }: { app: App; stored: StoredTrigger; job: StoredJob | undefined },
): Promise<void> {
  const { trigger } = stored
  const now = app.now()
  const holds = await (await app.store()).holds({ openAt: now })
  const state = triggerState(stored, holds)
  const runs = await app.runs.list({ trigger: trigger.name, limit: 5 })
  const after = Math.max(stored.cursorAt, now)
  const ahead = state === 'on' ? nextInstants(trigger.schedule, { after, count: 2 }) : []
  const hold = holds.find(({ target }) => target === `trigger:${trigger.name}`)
  const data = {
    kind: 'trigger',
    trigger: triggerView(stored, state),
    job: job && jobView(job),
    hold: hold && holdView(hold),
    runs: runs.map(runView),
  }
  const newest = await newestOf(context, app, runs)
  const when = describeTrigger(await loadTriggerKinds(), trigger)
  context.out.show(data, () => {
    printFields(context.out, { stored, job, state, when, hold, ahead }, triggerFields)
    newest()
  })
}

const triggerFields: Fields<ShownTrigger> = {
  trigger: ({ stored }) => stored.trigger.name,
  state: ({ state, hold }, times) =>
    hold === undefined ? state : `${state} by ${hold.actor} since ${times.full(hold.fromAt)} ${hold.note}`,
  when: ({ when }) => when,
  next: nextText,
  'planned up to': ({ stored }, times) => times.exact(stored.cursorAt),
  'catch-up': ({ stored }) => catchUpText(stored.trigger.catchUp),
  overlap: ({ stored }) => stored.trigger.overlap,
  jitter: ({ stored }) => lengthText(stored.trigger.jitterMs),
  spread: ({ stored }) => lengthText(stored.trigger.spreadMs),
  partition: ({ stored }) => partitionText(stored.trigger.partition),
  priority: ({ stored }) => stored.trigger.priority?.toString(),
  pauses: ({ stored: { trigger } }) =>
    trigger.pauseAfter === undefined
      ? undefined
      : `after ${count(trigger.pauseAfter, 'failed run')} in a row`,
  sla: ({ stored }) => slaText(stored.trigger.sla),
  payload: ({ stored }) => JSON.stringify(stored.trigger.payload),
  source: ({ stored }, times) =>
    `${stored.source}, version ${stored.version} since ${times.full(stored.definedAt)}`,
  services: ({ stored }) =>
    stored.trigger.round?.services
      .map(({ job, everyMs }) => `${job} every ${formatDuration(everyMs)}`)
      .join(', '),
  job: ({ stored: { trigger } }) => (trigger.round === undefined ? trigger.job : undefined),
  what: ({ stored, job }) => {
    if (stored.trigger.round !== undefined) return undefined
    return job === undefined ? 'its job is not defined' : handlerText(job.job.handler)
  },
}

function nextText({ stored, ahead }: ShownTrigger, times: TimeText): string | undefined {
  if (ahead.length > 0) return `${ahead.map((at) => times.full(at)).join(', ')} (${times.zone})`
  if (stored.nextAt !== undefined) return times.exact(stored.nextAt)
  return stored.chainRun === undefined ? undefined : 'measured from the end of its run'
}

function catchUpText({ mode, maxRuns, maxAgeMs, graceMs }: StoredTrigger['trigger']['catchUp']): string {
  const most = mode === 'all' ? `, at most ${maxRuns}` : ''
  const oldest = maxAgeMs === undefined ? '' : `, at most ${formatDuration(maxAgeMs)} old`
  return `${mode}${most}${oldest}; on time within ${formatDuration(graceMs)}`
}

function lengthText(ms: number): string | undefined {
  return ms === 0 ? undefined : formatDuration(ms)
}

async function showJob(context: Context<App>, app: App, stored: StoredJob): Promise<void> {
  const { name } = stored.job
  const isUsed = ({ trigger, active }: StoredTrigger): boolean =>
    active && (trigger.round?.services ?? [trigger]).some((one) => one.job === name)
  const triggers = (await app.triggers.list()).filter(isUsed).map(({ trigger }) => trigger.name)
  const runs = await app.runs.list({ job: name, limit: 5 })
  const newest = await newestOf(context, app, runs)
  const data = { kind: 'job', job: jobView(stored), triggers, runs: runs.map(runView) }
  context.out.show(data, () => {
    printFields(context.out, { ...stored.job, source: stored.source, triggers }, jobFields)
    newest()
  })
}

const jobFields: Fields<StoredJob['job'] & { source: string; triggers: readonly string[] }> = {
  job: 'name',
  what: ({ handler }) => handlerText(handler),
  directory: ({ handler }) => (handler.kind === 'shell' ? handler.cwd : undefined),
  environment: ({ handler }) => (handler.kind === 'shell' ? textNames(handler.env) : undefined),
  headers: ({ handler }) => (handler.kind === 'http' ? textNames(handler.headers) : undefined),
  queue: 'queue',
  priority: 'priority',
  tries: ({ retry: { attempts, backoff, delayMs, maxDelayMs, not } }) => {
    if (attempts === 1) return '1, no retry'
    return `${attempts}, waits ${backoff} from ${formatDuration(delayMs)} to ${formatDuration(maxDelayMs)}${not === undefined ? '' : `; not after ${not.join(', ')}`}`
  },
  timeout: ({ timeoutMs }) => (timeoutMs === undefined ? 'none' : formatDuration(timeoutMs)),
  concurrency: ({ concurrency }) => String(concurrency ?? 'unlimited'),
  limit: ({ limit }) => limit && rateText(limit),
  'limit per key': ({ limitPerKey }) => limitPerKey && rateText(limitPerKey),
  'quarantined after': ({ maxCrashes }) => count(maxCrashes, 'lost worker'),
  'dead-letter job': 'deadLetter',
  kept: ({ retention }) => retention && retentionText(retention),
  sla: ({ sla }) => slaText(sla),
  source: ({ source, ended }) => `${source}${ended === true ? ', which no longer defines it' : ''}`,
  triggers: ({ triggers }) => triggers.join(', ') || 'none; `rota run` and `rota enqueue` start it',
}

/** The retention of runs, by final state. */
function retentionText(retention: JobRetention): string {
  return Object.entries(retention)
    .map(([state, { ageMs, count: most }]) => {
      const age = ageMs === undefined ? [] : [formatDuration(ageMs)]
      const newest = most === undefined ? [] : [`the newest ${most}`]
      return `${state} ${[...age, ...newest].join(', ')}`
    })
    .join('; ')
}

/** Names without their texts, which may be secrets; references are shown with their variable or file. */
function textNames(texts: Readonly<Record<string, SecretText>> = {}): string {
  const named = Object.entries(texts).map(([name, text]) => {
    if (typeof text === 'string') return name
    return `${name} (${text.env === undefined ? `file ${text.file}` : `variable ${text.env}`})`
  })
  return named.join(', ')
}

/** Returns the function that prints the newest runs. */
async function newestOf(context: Context<App>, app: App, runs: readonly Run[]): Promise<() => void> {
  const { out } = context
  if (out.isJson) return () => undefined
  const pending = await pendingOf(app, runs)
  return () => {
    out.line()
    if (runs.length === 0) out.say('no runs yet')
    else printRuns(out, runs, pending)
  }
}

function rateText({ max, perMs, burst }: RateLimit): string {
  return `starts at most ${max} in ${formatDuration(perMs)}, burst ${burst}`
}
