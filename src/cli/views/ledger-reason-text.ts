import type { LedgerRange, LedgerRule } from '../../kernel/ledger/ledger.js'
import { shownIdLength } from '../../app/runs/short-ids.js'
import type { Instant } from '../../time/instant.js'
import type { TimeText } from '../framework/print/time-text.js'

/** The instants of a range, and the rule that decided. */
export function rangeText(range: LedgerRange, times: TimeText): string {
  return `${span(range.firstAt, range.lastAt, times)}: ${reasonText(range)}`
}

function span(firstAt: Instant, lastAt: Instant, times: TimeText): string {
  if (firstAt === lastAt) return `due ${times.full(firstAt)}`
  return `due ${times.full(firstAt)} to ${times.full(lastAt)}`
}

/** Why a range did not run. */
export function reasonText(
  { reason, rule, blocker, detail }: Pick<LedgerRange, 'reason' | 'rule' | 'blocker' | 'detail'>,
  short = shortId,
): string {
  const other = blocker === undefined ? 'another run' : `run ${short(blocker)}`
  const detailText = detail === undefined || detail === '' ? '' : ` (${detail})`
  switch (reason) {
    case 'missed':
      if (rule === 'partition:none') return 'the asset has no partition for it'
      return detail === undefined
        ? `missed, nothing was running then; ${ruleText(rule)}`
        : `missed${detailText}`
    case 'collapsed':
      return rule === 'round:check'
        ? `the check of ${detail ?? ''} replaces it`
        : `${other} replaces it; ${collapseText(rule)}`
    case 'overlap':
      return `skipped, ${other} was unfinished; ${ruleText(rule)}`
    case 'paused':
      return `the trigger was paused${detailText}`
    case 'frozen':
      return `everything was frozen${detailText}`
    case 'switch':
      return `a kill switch was off${detailText}`
    case 'blackout':
      return `in a blackout${detailText}`
    case 'calendar':
      return calendarText(rule, detailText)
    case 'pruned':
      return `ran, and its run was later removed by retention${detailText}`
    case 'checked':
      return rule === 'round:later'
        ? `skipped after the check${detailText}`
        : `the round was checked${detailText}`
  }
}

function calendarText(rule: LedgerRule, detailText: string): string {
  if (rule === 'calendar:include') return `outside its calendar${detailText}`
  const moved = rule === 'calendar:next-day' ? '; moved to the same time on the next day that it allows' : ''
  return `excluded by its calendar${detailText}${moved}`
}

function collapseText(rule: LedgerRule): string {
  const [what, policy] = rule.split(':')
  return what === 'overlap'
    ? `\`overlap: ${policy}\` runs only the newest of several due instants`
    : ruleText(rule)
}

/** The effect of a rule, with its option. */
function ruleText(rule: LedgerRule): string {
  return ruleTexts[rule] ?? `rule ${rule}`
}

const ruleTexts: Readonly<Partial<Record<LedgerRule, string>>> = {
  'catch-up:skip': '`catchUp: skip` runs no late instants',
  'catch-up:latest': '`catchUp: latest` runs only the newest late instant',
  'catch-up:max-age': '`catchUp.maxAge` runs no older instants',
  'catch-up:max-runs': '`catchUp.maxRuns` runs only the newest late instants',
  'overlap:skip': '`overlap: skip` starts no other run meanwhile',
  'overlap:queue-one': '`overlap: queue-one` lets only one run wait',
  'round:overlap': 'the previous check was not finished',
}

/** The prefix of a run's id in log lines, which are written without a query to the store. */
export function shortId(id: string): string {
  return id.slice(0, shownIdLength)
}
