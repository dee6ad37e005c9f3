import type { CheckNotice } from '../../kernel/trigger/round-spec.js'
import type { LedgerRange } from '../../kernel/ledger/ledger.js'
import type { TimeText } from '../../cli/framework/print/time-text.js'
import type { NoticeText } from '../../cli/framework/print/notice.js'
import type { FeatureNotices } from '../feature-notices.js'
import { isServiceRun } from './round.js'
import { pick } from '../../wire/to-json.js'
import { rangeFields } from '../../wire/views/why.js'

type Skipped = CheckNotice['skipped'][number]

/** What `rota up` prints about rounds: their checks, and the services of their runs. */
export const roundNotices: FeatureNotices = {
  range: (range, { checks }, times) => checkNotice(range, checks, times),
  subject: (run) => (isServiceRun(run) ? `${run.trigger}: ${run.job}` : undefined),
}

/** The due and skipped services of a check; undefined if a range is not one of a round. */
function checkNotice(
  range: LedgerRange,
  checks: readonly CheckNotice[] | undefined,
  times: TimeText,
): NoticeText | undefined {
  const check = checks?.find(({ dueAt, rule }) => dueAt === range.firstAt && rule === range.rule)
  if (range.reason !== 'checked' || check === undefined) return undefined
  const { due } = check
  const skipped = check.skipped.map((one) => `${one.service} (${skipText(one, times)})`)
  const found = due.length === 0 ? 'nothing is due' : `due: ${due.join(', ')}`
  const left = skipped.length === 0 ? '' : `skipped: ${skipped.join(', ')}`
  const parts = check.rule === 'round:later' ? [left] : [found, left]
  const text = `check of ${times.near(check.dueAt)}: ${parts.filter((part) => part !== '').join('; ')}`
  const data = {
    trigger: range.trigger,
    ...pick(range, rangeFields),
    due: check.due,
    skipped: check.skipped,
  }
  return { level: 'info', symbol: '–', subject: range.trigger, text, data }
}

/** Why a check skipped a service. */
export function skipText({ reason, dueAt, round }: Skipped, times: TimeText): string {
  switch (reason) {
    case 'not_due':
      return dueAt === undefined ? 'not due' : `not due before ${times.full(dueAt)}`
    case 'in_flight':
      return `in flight in round ${round ?? ''}`
    case 'tried':
      return 'failed for this check in another round'
    case 'replaced':
      return 'the list was replaced'
  }
}
