import type { Downtime } from '../../app/explain/downtime.js'
import type { SyncReport } from '../../engine/sync/sync.js'
import { shownUrl } from '../../app/store/open-store.js'
import { storeOpenToOthers } from '../../formats/open-to-others.js'
import type { App } from '../../app/rota.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { isHeard } from '../../kernel/trigger/trigger.js'
import { count } from '../framework/print/words.js'
import type { EventPrinter } from './event-printer.js'
import type { TimeText } from '../framework/print/time-text.js'

/** Tells what was started, what is due next, what was missed, and how to stop. */
export async function tellSummary(
  app: App,
  printer: EventPrinter,
  told: {
    readonly config: string | undefined
    readonly roles: string
    readonly report: SyncReport | undefined
    readonly downtime: Downtime | undefined
    readonly times: TimeText
  },
): Promise<void> {
  const { config, roles, report, downtime, times } = told
  const jobs = (await app.jobs.list()).filter(({ job }) => job.ended !== true).length
  const next = await nextDue(app, report)
  const changes = report === undefined ? '' : changesText(report)
  const { pid } = process
  const store = shownUrl(app.storeUrl)
  const where = `${store}${config === undefined ? '' : `, config ${config}`}`
  printer.say(`rota is up as process ${pid}: ${where}`, 'up', {
    pid,
    store,
    config: config ?? null,
    roles,
  })
  printer.say(
    `  ${roles}; ${count(jobs, 'job')}${next.total === undefined ? '' : `, ${count(next.total, 'trigger')}`}${changes}`,
    'definitions',
    {
      jobs,
      triggers: next.total ?? null,
      ...(report === undefined
        ? {}
        : { defined: report.defined, changed: report.changed, ended: report.ended }),
    },
  )
  const health = await (await app.store()).health({ now: app.now() })
  for (const { message, todo } of [...(health.warnings ?? []), ...storeOpenToOthers(app.storeUrl)]) {
    printer.say(`  ${message}; ${todo}`, 'warning', { message, todo })
  }
  if (downtime !== undefined) {
    const names = `${downtime.triggers.join(', ')}${downtime.isMore ? ' and more' : ''}`
    const data = { since: formatInstant(downtime.sinceAt), triggers: downtime.triggers }
    printer.say(
      `  last sign of life ${times.full(downtime.sinceAt)} (${times.distance(downtime.sinceAt)}); due since then: ${names}`,
      'downtime',
      data,
    )
  }
  for (const { name, at } of next.due) {
    printer.say(`  next: ${name} ${times.distance(at)} (${times.clock(at)})`, 'next', {
      trigger: name,
      at: formatInstant(at),
    })
  }
  printer.say('  Ctrl-C stops it in order; `rota runs` in another terminal lists what ran', 'hint')
}

function changesText({ defined, changed, ended }: SyncReport): string {
  const parts = [
    ...(defined.length === 0 ? [] : [`${defined.length} new`]),
    ...(changed.length === 0 ? [] : [`${changed.length} changed`]),
    ...(ended.length === 0 ? [] : [`${ended.length} ended`]),
  ]
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
