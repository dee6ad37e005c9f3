import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Simulation, SimulatedTrigger } from '../../../../src/client/operations.js'
import { formatCount, formatDuration } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { marks, type Mark } from '../../design/marks.js'
import { Panel } from '../../parts/panel.js'
import { StateMark } from '../../parts/state-mark.js'
import { EmptyState } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time, TimeSpan } from '../../parts/time.js'
import { words } from '../../words/planning/simulate.js'
import { Load } from './load.js'
import styles from './page.module.css'

/** What a simulation found. */
export function Result({ result, isStale }: { result: Simulation; isStale: boolean }): ReactNode {
  const { triggers, triggerCount, leftOut } = result
  return (
    <>
      <Summary result={result} isStale={isStale} />
      <Load result={result} />
      <Panel
        title={words.triggers.title}
        aside={words.triggers.shown(formatCount(triggers.length), formatCount(triggerCount))}
      >
        {triggers.length === 0 ? (
          <EmptyState title={words.triggers.none} />
        ) : (
          <Table
            label={words.triggers.title}
            columns={columns}
            rows={triggers}
            rowKey={({ trigger }) => trigger}
          />
        )}
      </Panel>
      {leftOut.length === 0 ? null : (
        <Panel title={words.leftOut} padded>
          <ul>
            {leftOut.map(({ trigger, why }) => (
              <li key={trigger}>
                <TriggerLink name={trigger} /> <span className="soft">{why}</span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  )
}

function Summary({ result, isStale }: { result: Simulation; isStale: boolean }): ReactNode {
  const { summary } = words
  const { runs, failed, crashes, late, maxRunning, maxWaiting, busiestMinute, used } = result
  const slots = formatCount(result.processes * result.concurrency)
  return (
    <Panel
      title={summary.title}
      aside={
        <span className={styles['span']}>
          <TimeSpan from={result.fromAt} until={result.untilAt} />
        </span>
      }
    >
      {isStale ? (
        <p role="status" className={styles['stale']}>
          {words.stale}
        </p>
      ) : null}
      <dl className={styles['numbers']}>
        <Fact name={summary.runs}>{formatCount(runs)}</Fact>
        <Fact name={summary.failed} isBad={failed > 0}>
          {formatCount(failed)}
        </Fact>
        {crashes === 0 ? null : <Fact name={summary.crashes}>{formatCount(crashes)}</Fact>}
        <Fact name={summary.late}>{formatDuration(late.p50Ms)}</Fact>
        <Fact name={summary.late99}>{formatDuration(late.p99Ms)}</Fact>
        <Fact name={summary.latest}>{formatDuration(late.maxMs)}</Fact>
        <Fact name={summary.used}>{percent(used)}</Fact>
        <Fact name={summary.running} at={maxRunning.at}>
          {formatCount(maxRunning.count)} <small>{summary.ofSlots(slots)}</small>
        </Fact>
        <Fact name={summary.waiting} at={maxWaiting.at}>
          {formatCount(maxWaiting.count)}
        </Fact>
        <Fact name={summary.minute} at={busiestMinute.at}>
          {summary.starts(formatCount(busiestMinute.count))}
        </Fact>
      </dl>
    </Panel>
  )
}

function Fact({
  name,
  at,
  isBad = false,
  children,
}: {
  name: string
  at?: string | null
  isBad?: boolean
  children: ReactNode
}): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd data-bad={isBad}>{children}</dd>
      {at == null ? null : (
        <dd className={styles['when']}>
          <Time at={at} relative={false} />
        </dd>
      )}
    </div>
  )
}

const { columns: heads } = words.triggers

const columns: readonly Column<SimulatedTrigger>[] = [
  { key: 'trigger', head: heads.trigger, grows: true, cell: ({ trigger }) => <TriggerLink name={trigger} /> },
  { key: 'runs', head: heads.runs, align: 'end', cell: ({ runs }) => formatCount(runs) },
  {
    key: 'failed',
    head: heads.failed,
    align: 'end',
    isExtra: true,
    cell: ({ failed }) => formatCount(failed),
  },
  {
    key: 'late',
    head: heads.late,
    align: 'end',
    isExtra: true,
    cell: ({ late }) => formatDuration(late.p50Ms),
  },
  { key: 'late99', head: heads.late99, align: 'end', cell: ({ late }) => formatDuration(late.p99Ms) },
  {
    key: 'latest',
    head: heads.latest,
    align: 'end',
    isExtra: true,
    cell: ({ late }) => formatDuration(late.maxMs),
  },
  { key: 'notRun', head: heads.notRun, cell: (row) => <NotRun row={row} /> },
  {
    key: 'history',
    head: heads.history,
    align: 'end',
    isExtra: true,
    cell: ({ knownRuns }) =>
      knownRuns === 0 ? (
        <span className="soft">{words.triggers.unknown}</span>
      ) : (
        words.triggers.known(knownRuns)
      ),
  },
]

/** Why due times have no run of their own, with counts. */
function NotRun({ row: { notRun, pausedAt } }: { row: SimulatedTrigger }): ReactNode {
  return (
    <span className={styles['reasons']}>
      {Object.entries(notRun).map(([reason, count]) =>
        count === undefined || !isMark(reason) ? null : (
          <span key={reason}>
            <StateMark mark={reason} /> {formatCount(count)}
          </span>
        ),
      )}
      {pausedAt === null ? null : (
        <span>
          <StateMark mark="paused" label={words.triggers.paused} /> <Time at={pausedAt} relative={false} />
        </span>
      )}
    </span>
  )
}

function isMark(text: string): text is Mark {
  return text in marks
}

function TriggerLink({ name }: { name: string }): ReactNode {
  return (
    <Link href={`/triggers/${encodeURIComponent(name)}`} title={printable(name)}>
      {printable(name)}
    </Link>
  )
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
}
