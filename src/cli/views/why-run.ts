import type { Run } from '../../kernel/run/run.js'
import { breaches } from '../../engine/explain/breaches.js'
import { breachText, jobKey, type Breach } from '../../kernel/sla/deadline.js'
import type { Store } from '../../store/port.js'
import { breachView } from '../../wire/views/breaches.js'
import type { App } from '../../app/rota.js'
import { printable } from '../../text/printable.js'
import type { Instant } from '../../time/instant.js'
import type { Context } from '../framework/command.js'
import { pendingOf } from './pending-of.js'
import { ofText, tookText } from './runs-table.js'
import { type TimeText } from '../framework/print/time-text.js'
import { unknownName } from '../options/unknown-name.js'
import { runView } from '../../wire/views/runs.js'
import { printWrapped } from '../framework/print/wrap.js'

/** The object that a name means: a trigger, a job or a run. */
export type Meant =
  | { readonly kind: 'trigger' }
  | { readonly kind: 'job' }
  | { readonly kind: 'run'; readonly run: Run }

/** Finds the object with a name: a trigger before a job, and a job before a run. */
export async function meantBy(app: App, name: string): Promise<Meant> {
  const store = await app.store()
  const [trigger] = await store.triggers({ names: [name] })
  if (trigger !== undefined) return { kind: 'trigger' }
  const jobs = await app.jobs.list()
  if (jobs.some(({ job }) => job.name === name)) return { kind: 'job' }
  if (looksLikeRunId(name) && (await store.runsByPrefix(name.toLowerCase(), 1)).length > 0)
    return { kind: 'run', run: await app.runs.get(name) }
  throw await unknownName(app, name)
}

/** Whether a text may be a run's id or the beginning of one. */
export function looksLikeRunId(text: string): boolean {
  return /^[0-9a-hjkmnp-tv-z]{4,36}$/i.test(text)
}

/** Prints the state of one run. */
export async function whyRun(context: Context<App>, app: App, run: Run): Promise<void> {
  const { out } = context
  const pending = await pendingOf(app, [run])
  const broken = (await breachesOfRun(await app.store(), run)).toReversed()
  const data = {
    kind: 'run',
    run: runView(run),
    pending: pending.views(run),
    breaches: broken.map(breachView),
  }
  out.show(data, () => {
    const times = out.times()
    out.line(out.colors.bold(`run ${run.id}`))
    const of = `of ${ofText(run)}, due ${times.full(run.dueAt)} (${times.zone})`
    const breachLines = broken.map((breach) => slaText(breach, times))
    const lines = [of, standText(run, times), ...pending.lines(run, times), ...breachLines]
    for (const line of lines) printWrapped(out, printable(line), { indent: 2, hanging: 4 })
  })
}

const mostRuns = 200

/** Prints the runs of a job that were due in a range of time, and all pending ones. */
export async function whyJob(
  context: Context<App>,
  app: App,
  { job, fromAt, untilAt }: { readonly job: string; readonly fromAt: Instant; readonly untilAt: Instant },
): Promise<void> {
  const { out } = context
  const store = await app.store()
  const inTime = await store.runs({ job, sinceAt: fromAt, untilAt, limit: mostRuns })
  const waiting = await store.runs({ job, state: 'pending', limit: mostRuns })
  const all = new Map([...inTime, ...waiting].map((run) => [run.id, run]))
  const runs = [...all.values()].toSorted((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1))
  const pending = await pendingOf(app, runs)
  const views = runs.map((run) => ({ ...runView(run), pending: pending.views(run) }))
  const names = [jobKey(job)]
  const broken = (await breaches(store, { names, fromAt, untilAt, limit: mostRuns })).toReversed()
  out.show({ kind: 'job', job, runs: views, breaches: broken.map(breachView) }, () => {
    const times = out.times()
    const stretch = `${times.full(fromAt)} to ${times.full(untilAt)}`
    out.line(`${out.colors.bold(job)}  ${stretch} (${times.zone})`)
    if (runs.length === 0) out.line('  no run was due then, and none is pending')
    for (const run of runs) {
      const words = [standText(run, times), ...pending.lines(run, times)]
      const text = `${times.full(run.dueAt)}  run ${pending.shortId(run.id)}: ${words.join('; ')}`
      printWrapped(out, printable(text), { indent: 2, hanging: 4 })
    }
    for (const breach of broken)
      printWrapped(out, printable(slaText(breach, times)), { indent: 2, hanging: 4 })
  })
}

/** The breaches of one run, for all its SLAs. */
async function breachesOfRun(store: Store, { id, job, trigger, dueAt }: Run): Promise<readonly Breach[]> {
  const names = [jobKey(job), ...(trigger === undefined ? [] : [trigger])]
  const found = await breaches(store, { names, fromAt: dueAt, untilAt: dueAt, limit: mostRuns })
  return found.filter(({ run }) => run === id)
}

/** A breach in one line. */
export function slaText(breach: Breach, times: TimeText): string {
  return `SLA: ${breachText(breach, (at) => times.full(at))}`
}

/** The state of a run, and how it got there. */
export function standText(run: Run, times: TimeText): string {
  const took = tookText(run)
  const tries = run.attempt > 1 ? `, ${run.attempt} attempts` : ''
  const detail = endText(run, times)
  return `${run.state}${took === '' ? '' : ` in ${took}`}${tries}${detail === '' ? '' : ` (${detail})`}`
}

function endText(run: Run, times: TimeText): string {
  switch (run.state) {
    case 'pending':
    case 'done':
      return ''
    case 'running': {
      const since = run.startedAt ?? run.claimedAt
      const by = run.worker === undefined ? '' : ` by ${run.worker}`
      const asked = run.cancelRequested && run.reason !== 'removed' ? ', asked to stop' : ''
      return since === undefined ? '' : `since ${times.full(since)}${by}${asked}`
    }
    case 'failed':
    case 'cancelled':
      return run.reason ?? run.error?.message ?? ''
  }
}
