import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { formatCount } from '../../data/format.js'
import { useNow } from '../../data/now.js'
import { triggerHref } from '../../data/triggers.js'
import { LongName } from '../../parts/text/long-name.js'
import { StateMark } from '../../parts/state-mark.js'
import { EmptyState } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { WhyButton } from '../../parts/why/why-button.js'
import { markWords } from '../../words/common.js'
import { words } from '../../words/timeline.js'
import type { View } from './axis/view.js'
import { detailText, tallyText } from './chart/item-text.js'
import type { LaneData } from './lane/lane-data.js'
import { itemsOf, type Item } from './lane/merge.js'
import styles from './page.module.css'

interface TwinRow {
  readonly lane: LaneData
  readonly item: Item
}

/** A longer table is not useful, and would take a browser seconds. */
const mostRows = 500
/** The table merges as a chart of this width would. */
const asWidePx = 1200

/** The same as the chart, as rows. */
export function TwinTable({
  lanes,
  view,
  isLoading,
}: {
  lanes: readonly LaneData[]
  view: View
  /** Whether more of it is on its way. */
  isLoading: boolean
}): ReactNode {
  const nowMs = useNow()
  const msPerPx = (view.untilMs - view.fromMs) / asWidePx
  const all = lanes.flatMap((lane) =>
    itemsOf(lane.points, lane.bars, msPerPx)
      .filter(({ fromMs, untilMs }) => untilMs >= view.fromMs && fromMs <= view.untilMs)
      .map((item): TwinRow => ({ lane, item })),
  )
  const rows = all.slice(0, mostRows)
  const iso = (ms: number): string => new Date(ms).toISOString()
  const columns: readonly Column<TwinRow>[] = [
    { key: 'trigger', head: words.twin.trigger, cell: ({ lane }) => <TriggerName name={lane.name} /> },
    {
      key: 'what',
      head: words.twin.what,
      cell: ({ item }) => (
        <StateMark
          mark={item.mark}
          label={item.kind === 'block' ? tallyText(item.tally) : markWords[item.mark]}
        />
      ),
    },
    {
      key: 'from',
      head: words.twin.from,
      cell: ({ item, lane }) => <Time at={iso(item.fromMs)} zone={lane.zone} withOffset />,
    },
    {
      key: 'until',
      head: words.twin.until,
      isEmpty: ({ item }) => item.untilMs === item.fromMs,
      cell: ({ item, lane }) =>
        item.untilMs === item.fromMs ? null : (
          <Time at={iso(item.untilMs)} zone={lane.zone} relative={false} />
        ),
      isExtra: true,
    },
    {
      key: 'detail',
      head: words.twin.detail,
      cell: ({ item }) => detailText(item, nowMs),
      grows: true,
      isExtra: true,
    },
    {
      key: 'why',
      head: words.twin.why,
      cell: ({ item, lane }) => (
        <WhyButton trigger={lane.name} from={iso(item.fromMs)} until={iso(item.untilMs)} />
      ),
    },
  ]
  if (all.length === 0 && !isLoading) return <EmptyState title={words.twin.none} />
  return (
    <>
      {all.length > rows.length ? (
        <p className={styles['cutNote']}>
          {words.twin.cut(formatCount(rows.length), formatCount(all.length))}
        </p>
      ) : null}
      <Table
        label={words.twin.label}
        columns={columns}
        rows={rows}
        rowKey={({ lane, item }) => `${lane.name} ${item.kind} ${item.fromMs} ${item.mark}`}
      />
    </>
  )
}

function TriggerName({ name }: { name: string }): ReactNode {
  return (
    <Link href={triggerHref(name)} className={styles['twinName']} title={name} aria-label={name}>
      <LongName>{name}</LongName>
    </Link>
  )
}
