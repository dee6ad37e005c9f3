import type { Downtime } from '../../app/explain/downtime.js'
import type { Opened } from '../../features/up-extension.js'
import type { SyncReport } from '../../engine/sync/sync.js'
import { shownUrl } from '../../app/store/store-address.js'
import { storeOpenToOthers } from '../../formats/open-to-others.js'
import type { App } from '../../app/rota.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { isHeard } from '../../kernel/trigger/trigger.js'
import { pick } from '../../wire/to-json.js'
import { count } from '../framework/print/words.js'
import type { EventPrinter } from './event-printer.js'
import type { TimeText } from '../framework/print/time-text.js'

/** Prints what was started, what is due next, what was missed, and how to stop. */
export async function printSummary(
  app: App,
  printer: EventPrinter,
  summary: {
    readonly config: string | undefined
    readonly roles: string
    readonly opened: readonly Opened[]
    readonly report: SyncReport | undefined
    readonly downtime: Downtime | undefined
    readonly times: TimeText
  },
): Promise<void> {
  const { config, roles, opened, report, downtime, times } = summary
  const jobs = (await app.jobs.list()).filter(({ job }) => job.ended !== true).length
  const next = await nextDue(app, report)
  const { pid } = process
  const store = shownUrl(app.storeUrl)
  const where = `${store}${config === undefined ? '' : `, config ${config}`}`
  printer.say(`rota is up as process ${pid}: ${where}`, 'up', { pid, store, config, roles })
  const triggers = next.total === undefined ? '' : `, ${count(next.total, 'trigger')}`
  const changes = report && pick(report, ['defined', 'changed', 'ended'])
  const text = `  ${roles}; ${count(jobs, 'job')}${triggers}${changesText(changes)}`
  printer.say(text, 'definitions', { jobs, triggers: next.total, ...changes })
  for (const one of opened) printer.say(one.text, one.event, one.data)
  const health = await (await app.store()).health({ now: app.now() })
  for (const { message, todo } of [...(health.warnings ?? []), ...storeOpenToOthers(app.storeUrl)]) {
    printer.say(`  ${message}; ${todo}`, 'warning', { message, todo })
  }
  if (downtime !== undefined) {
    const { sinceAt, triggers: due, isMore } = downtime
    const sign = `  last sign of life ${times.full(sinceAt)} (${times.distance(sinceAt)})`
    const names = `${due.join(', ')}${isMore ? ' and more' : ''}`
    const data = { since: formatInstant(sinceAt), triggers: due }
    printer.say(`${sign}; due since then: ${names}`, 'downtime', data)
  }
  for (const { name, at } of next.due) {
    printer.say(`  next: ${name} ${times.distance(at)} (${times.clock(at)})`, 'next', { trigger: name, at })
  }
  printer.say('  Ctrl-C stops it; `rota runs` in another terminal lists the runs', 'hint')
}

function changesText(changes: Readonly<Record<string, readonly string[]>> = {}): string {
  const parts = Object.entries(changes)
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${names.length} ${what === 'defined' ? 'new' : what}`)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

/** Reading every trigger for three lines would slow down the start of a large app. */
const mostRead = 1000

async function nextDue(
  app: App,
  report: SyncReport | undefined,
): Promise<{ total: number | undefined; due: readonly { name: string; at: Instant }[] }> {
  const defined = report === undefined ? 0 : report.defined.length + report.changed.length + report.unchanged
  if (defined > mostRead) return { total: defined, due: [] }
  const active = (await app.triggers.list()).filter((trigger) => trigger.active)
  const now = app.now()
  const due = active
    .filter(({ trigger }) => !isHeard(trigger.schedule))
    .flatMap(({ trigger, nextAt = 0 }) => (nextAt <= now ? [] : [{ name: trigger.name, at: nextAt }]))
    .toSorted((a, b) => a.at - b.at)
  return { total: active.length, due: due.slice(0, 3) }
}
