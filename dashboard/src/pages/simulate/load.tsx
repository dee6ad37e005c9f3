import { useState, type ReactNode } from 'react'
import type { Simulation, SimulatedSpan } from '../../../../src/client/operations.js'
import { exactTime, formatCount } from '../../data/format.js'
import { useNow } from '../../data/now.js'
import { useZone } from '../../data/zone.js'
import { Bars } from '../../parts/bars.js'
import { Button } from '../../parts/button.js'
import { Panel } from '../../parts/panel.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/planning/simulate.js'
import styles from './page.module.css'

const { load } = words
const hourMs = 3_600_000

/** How many runs begin, and how many wait, in each hour or day; as bars or as rows. */
export function Load({ result }: { result: Simulation }): ReactNode {
  const [isTable, setTable] = useState(false)
  const spans = filled(result)
  const title = result.spanMs === hourMs ? load.hours : load.days
  return (
    <Panel
      title={title}
      aside={
        <Button tone="quiet" onClick={() => setTable(!isTable)}>
          {isTable ? load.chart : load.table}
        </Button>
      }
    >
      {isTable ? (
        <div className={styles['rows']}>
          <Table label={title} columns={columns} rows={spans} rowKey={({ at }) => at} />
        </div>
      ) : (
        <Charts result={result} spans={spans} />
      )}
    </Panel>
  )
}

function Charts({ result, spans }: { result: Simulation; spans: readonly SimulatedSpan[] }): ReactNode {
  const zone = useZone()
  const now = useNow()
  const textOf = (at: string): string => {
    const { date, clock } = exactTime(Date.parse(at), zone, { now })
    return result.spanMs === hourMs ? `${date} ${clock.slice(0, 5)}` : date
  }
  const mostRuns = Math.max(0, ...spans.map(({ runs }) => runs))
  const mostWaiting = Math.max(0, ...spans.map(({ maxWaiting }) => maxWaiting))
  const scale = (
    <div className={styles['scale']} aria-hidden="true">
      <span>{textOf(result.fromAt)}</span>
      <span>{textOf(result.untilAt)}</span>
    </div>
  )
  return (
    <div className={styles['charts']}>
      <figure>
        <figcaption>
          {load.runs} <span className="soft">{load.most(formatCount(mostRuns))}</span>
        </figcaption>
        <Bars
          label={load.runsLabel(formatCount(result.runs), formatCount(result.failed))}
          height={96}
          bars={spans.map(({ at, runs, failed }) => ({
            key: at,
            title: load.bar(textOf(at), formatCount(runs), formatCount(failed)),
            parts: [
              { family: 'ok', count: Math.max(0, runs - failed) },
              { family: 'bad', count: failed },
            ],
          }))}
        />
        {scale}
      </figure>
      <figure>
        <figcaption>
          {load.waiting} <span className="soft">{load.most(formatCount(mostWaiting))}</span>
        </figcaption>
        <Bars
          label={load.waitingLabel(formatCount(mostWaiting))}
          bars={spans.map(({ at, maxWaiting }) => ({
            key: at,
            title: load.waitingBar(textOf(at), formatCount(maxWaiting)),
            parts: [{ family: 'warn', count: maxWaiting }],
          }))}
        />
        {scale}
      </figure>
    </div>
  )
}

const columns: readonly Column<SimulatedSpan>[] = [
  { key: 'at', head: load.columns.at, grows: true, cell: ({ at }) => <Time at={at} relative={false} /> },
  { key: 'runs', head: load.columns.runs, align: 'end', cell: ({ runs }) => formatCount(runs) },
  { key: 'failed', head: load.columns.failed, align: 'end', cell: ({ failed }) => formatCount(failed) },
  {
    key: 'running',
    head: load.columns.running,
    align: 'end',
    cell: ({ maxRunning }) => formatCount(maxRunning),
  },
  {
    key: 'waiting',
    head: load.columns.waiting,
    align: 'end',
    cell: ({ maxWaiting }) => formatCount(maxWaiting),
  },
]

/** One span for each hour or day, also where nothing happened. */
function filled({ fromAt, untilAt, spanMs, spans }: Simulation): readonly SimulatedSpan[] {
  const byStart = new Map(spans.map((span) => [Date.parse(span.at), span]))
  const first = Math.floor(Date.parse(fromAt) / spanMs) * spanMs
  const count = Math.min(400, Math.ceil((Date.parse(untilAt) - first) / spanMs))
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * spanMs
    const nothing = { at: new Date(at).toISOString(), runs: 0, failed: 0, maxRunning: 0, maxWaiting: 0 }
    return byStart.get(at) ?? nothing
  })
}
