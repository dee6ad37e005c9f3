import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api, wholeList } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useMay } from '../../data/session.js'
import { BackfillDialog } from '../../parts/backfill/backfill-dialog.js'
import { TriggerBackfillDialog } from '../../parts/backfill/trigger-backfill-dialog.js'
import { Button } from '../../parts/button.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { ErrorState } from '../../parts/states.js'
import { StateMark } from '../../parts/state-mark.js'
import { TimeSpan } from '../../parts/time.js'
import { useToast } from '../../parts/toast.js'
import { askWhy } from '../../parts/why/why-address.js'
import { markWords } from '../../words/common.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/timeline.js'
import type { LaneData } from './lane/lane-data.js'
import { order, tallyIn, type Selection } from './lane/select.js'
import styles from './page.module.css'

/** What is selected, and what can be done with it. */
export function SelectionBar({
  selection,
  names,
  lanes,
  onClear,
}: {
  selection: Selection
  /** The names of the selected lanes. */
  names: readonly string[]
  lanes: ReadonlyMap<string, LaneData>
  onClear: () => void
}): ReactNode {
  const { why: mayNot } = useMay('operate')
  const [opened, setOpened] = useState<'retry' | 'backfill'>()
  const tally = tallyIn(
    names.flatMap((name) => lanes.get(name) ?? []),
    selection,
  )
  const present = order.filter((mark) => (tally[mark] ?? 0) > 0)
  const failed = tally.failed ?? 0
  const [name = ''] = names
  const jobs = new Set(names.flatMap((one) => lanes.get(one)?.job ?? []))
  const [job = ''] = jobs
  const { data: assets } = useQuery({
    queryKey: ['assets'],
    queryFn: ({ signal }) => wholeList((query) => api('GET /assets', { query, signal })),
    meta: { topics: ['triggers', 'runs'] },
  })
  const isAsset = assets?.items.some((asset) => asset.name === job) === true
  const isOne = isAsset ? jobs.size === 1 : names.length === 1
  const from = new Date(selection.fromMs).toISOString()
  const until = new Date(selection.untilMs).toISOString()
  return (
    <section className={styles['selection']} aria-label={words.selection.label} data-bottom-bar>
      <div className={styles['selected']}>
        <strong className="cut">{words.selection.lanes(name, names.length - 1)}</strong>
        <span>
          <TimeSpan from={from} until={until} />
        </span>
        <span className={styles['counts']}>
          {present.length === 0 ? <span className="soft">{words.selection.nothing}</span> : null}
          {present.map((mark) => (
            <StateMark
              key={mark}
              mark={mark}
              label={words.selection.count(formatCount(tally[mark] ?? 0), markWords[mark])}
            />
          ))}
        </span>
      </div>
      <div className={styles['actions']}>
        <Button
          why={names.length === 1 ? undefined : words.selection.whyOne}
          onClick={() => askWhy({ trigger: name, from, until })}
        >
          {words.selection.why}
        </Button>
        <Button
          why={failed === 0 ? words.selection.nothingFailed : mayNot}
          onClick={() => setOpened('retry')}
        >
          {words.selection.retry(failed === 0 ? '' : formatCount(failed))}
        </Button>
        <Button why={isOne ? mayNot : words.selection.backfillOne} onClick={() => setOpened('backfill')}>
          {words.selection.backfill}
        </Button>
        <Button tone="quiet" onClick={onClear}>
          {words.selection.clear}
        </Button>
      </div>
      {opened === 'retry' ? (
        <RetryDialog
          names={names}
          from={from}
          until={until}
          count={failed}
          onClose={() => setOpened(undefined)}
        />
      ) : null}
      {opened === 'backfill' && !isAsset ? (
        <TriggerBackfillDialog trigger={name} from={from} to={until} onClose={() => setOpened(undefined)} />
      ) : null}
      {opened === 'backfill' && isAsset ? (
        <BackfillDialog
          asset={job}
          {...datesOf(selection, lanes.get(name)?.zone ?? 'UTC')}
          onClose={() => setOpened(undefined)}
        />
      ) : null}
    </section>
  )
}

/** As many runs as one action retries. */
const mostRetried = 500

interface Stretch {
  readonly names: readonly string[]
  readonly from: string
  readonly until: string
}

/** Asks before what failed is retried; the server says how many runs that are. */
function RetryDialog({
  count: shown,
  onClose,
  ...stretch
}: Stretch & { count: number; onClose: () => void }): ReactNode {
  const client = useQueryClient()
  const toast = useToast()
  const { data: plan, error } = useQuery({
    queryKey: ['timeline-retry-plan', stretch],
    queryFn: () => planRetry(stretch),
    retry: false,
    gcTime: 0,
    // What is shown is what is retried, also if more has failed meanwhile.
    meta: { isFixed: true },
  })
  const retry = async (reason: string): Promise<void> => {
    const ids = plan?.ids ?? []
    const { bulk } = await api('POST /bulk', { body: { action: 'retry', ids, reason } })
    // Not awaited: pieces that rarely change wait before they are read again.
    void client.invalidateQueries({ queryKey: ['timeline'] })
    const text = words.retry.done(formatCount(ids.length))
    toast(bulk === null ? { text } : { text, undo: () => takeBack(bulk.id, ids) })
  }
  const count = formatCount(plan?.count ?? shown)
  return (
    <ConfirmDialog
      title={words.retry.title(count)}
      action={words.retry.action}
      isReady={plan !== undefined && plan.count > 0}
      onConfirm={retry}
      onClose={onClose}
    >
      <p>{words.retry.text}</p>
      {error === null ? null : <ErrorState error={error} />}
      {plan?.isCapped === true ? (
        <p className="soft">{words.retry.capped(formatCount(mostRetried))}</p>
      ) : null}
    </ConfirmDialog>
  )
}

/** Ends the action, if it is still going on, and cancels the runs that it has retried. */
async function takeBack(id: string, ids: readonly string[]): Promise<void> {
  const reason = common.undoReason
  await api('POST /bulk/{id}/abort', { path: { id }, body: { reason } })
  await api('POST /bulk', { body: { action: 'cancel', ids, reason } })
}

/** Which runs failed in a stretch of some lanes, and how many of them a retry would change. */
async function planRetry({ names, from, until }: Stretch) {
  const found: string[] = []
  for (const trigger of names) {
    const query = { trigger, state: 'failed', since: from, until, limit: mostRetried } as const
    const { items } = await api('GET /runs', { query })
    found.push(...items.map(({ id }) => id))
    if (found.length >= mostRetried) break
  }
  const ids = found.slice(0, mostRetried)
  const isCapped = found.length >= mostRetried
  if (ids.length === 0) return { ids, count: 0, isCapped }
  const { plan } = await api('POST /bulk', { body: { action: 'retry', ids, dryRun: true } })
  return { ids, count: plan.count, isCapped }
}

/** The dates of a stretch in the zone of a trigger, as partitions are named by. */
function datesOf({ fromMs, untilMs }: Selection, zone: string): { from: string; to: string } {
  const date = (ms: number): string =>
    new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(ms)
  return { from: date(fromMs), to: date(untilMs) }
}
