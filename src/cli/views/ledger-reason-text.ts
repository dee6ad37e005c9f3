import type { LedgerRange } from '../../kernel/ledger/ledger.js'
import { shownIdLength } from '../../app/runs/short-ids.js'
import type { Instant } from '../../time/instant.js'
import type { TimeText } from '../framework/print/time-text.js'

/** What became of a range of due instants, and which rule decided. */
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
  const told = detail === undefined || detail === '' ? '' : ` (${detail})`
  switch (reason) {
    case 'missed':
      if (rule === 'partition:none') return 'the asset has no partition for it'
      return detail === undefined ? `missed, nothing was running then (${rule})` : `missed${told}`
    case 'collapsed':
      return rule === 'round:check'
        ? `collapsed into the check of ${detail ?? ''} (${rule})`
        : `collapsed into ${other} (${rule})`
    case 'overlap':
      return `skipped, ${other} was unfinished (${rule})`
    case 'paused':
      return `the trigger was paused${told}`
    case 'frozen':
      return `everything was frozen${told}`
    case 'switch':
      return `a kill switch was off${told}`
    case 'blackout':
      return `in a blackout window${told}`
    case 'calendar':
      return rule === 'calendar:next-day'
        ? `excluded by its calendar${told}; moved to the same time on the next day that it allows`
        : `excluded by its calendar${told}`
    case 'pruned':
      return `ran and was pruned since${told}`
    case 'checked':
      return rule === 'round:later' ? `left out after the check${told}` : `the round was checked${told}`
  }
}

/** The beginning of a run's id that log lines show, which are written without asking the store. */
export function shortId(id: string): string {
  return id.slice(0, shownIdLength)
}
