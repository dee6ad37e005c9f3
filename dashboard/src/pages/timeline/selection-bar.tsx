import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useMay } from '../../data/session.js'
import { BackfillDialog } from '../../parts/backfill/backfill-dialog.js'
import { TriggerBackfillDialog } from '../../parts/backfill/trigger-backfill-dialog.js'
import { Button } from '../../parts/button.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { StateMark } from '../../parts/state-mark.js'
import { TimeSpan } from '../../parts/time.js'
import { useToast } from '../../parts/toast.js'
import { useWhy } from '../../parts/why/why-address.js'
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
  const [, ask] = useWhy()
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
    queryFn: ({ signal }) => api('GET /assets', { signal }),
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
          onClick={() => ask({ trigger: name, from, until })}
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

function RetryDialog({
  names,
  from,
  until,
  count: shown,
  onClose,
}: {
  names: readonly string[]
  from: string
  until: string
  count: number
  onClose: () => void
}): ReactNode {
  const client = useQueryClient()
  const toast = useToast()
  const retry = async (reason: string): Promise<void> => {
    const { id, count } = await retryFailed({ names, from, until, reason })
    await client.invalidateQueries({ queryKey: ['timeline'] })
    const text = words.retry.done(formatCount(count))
    if (id === undefined) return toast({ text })
    toast({
      text,
      undo: async () =>
        await api('POST /bulk/{id}/abort', { path: { id }, body: { reason: common.undoReason } }),
    })
  }
  return (
    <ConfirmDialog
      title={words.retry.title(formatCount(shown))}
      action={words.retry.action}
      onConfirm={retry}
      onClose={onClose}
    >
      <p>{words.retry.text}</p>
      {shown > mostRetried ? <p className="soft">{words.retry.capped(formatCount(mostRetried))}</p> : null}
    </ConfirmDialog>
  )
}

/** Begins to retry what failed in a stretch of some lanes; answers how many runs that are, and the id of the action. */
async function retryFailed({
  names,
  from,
  until,
  reason,
}: {
  names: readonly string[]
  from: string
  until: string
  reason: string
}): Promise<{ id?: string | undefined; count: number }> {
  const ids: string[] = []
  for (const trigger of names) {
    const query = { trigger, state: 'failed', since: from, until, limit: mostRetried } as const
    const { items } = await api('GET /runs', { query })
    ids.push(...items.map(({ id }) => id))
    if (ids.length >= mostRetried) break
  }
  const chosen = ids.slice(0, mostRetried)
  if (chosen.length === 0) return { count: 0 }
  const { bulk } = await api('POST /bulk', { body: { action: 'retry', ids: chosen, reason } })
  return { id: bulk?.id, count: chosen.length }
}

/** The dates of a stretch in the zone of a trigger, as partitions are named by. */
function datesOf({ fromMs, untilMs }: Selection, zone: string): { from: string; to: string } {
  const date = (ms: number): string =>
    new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(ms)
  return { from: date(fromMs), to: date(untilMs) }
}
