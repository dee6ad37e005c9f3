import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { RunMark } from '../../../../src/client/ui-operations.js'
import { formatDuration } from '../../data/format.js'
import { hrefOf } from '../../data/location.js'
import { recentQuery } from '../../data/triggers.js'
import { marks } from '../../design/marks.js'
import { tookMs } from '../../parts/charts/sparkline.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, Skeleton } from '../../parts/states.js'
import { words } from '../../words/trigger.js'
import styles from './durations.module.css'

const places = 200
const tall = 96

/** How long the newest 200 runs took, with the median and the slow end. */
export function Durations({ name }: { name: string }): ReactNode {
  const { data } = useQuery(recentQuery([name], places))
  const runs = (data?.items[0]?.runs ?? []).filter((run) => tookMs(run) !== undefined).toReversed()
  const sorted = runs
    .filter(({ state }) => state === 'done')
    .map((run) => tookMs(run) ?? 0)
    .toSorted((a, b) => a - b)
  const at = (share: number): number | undefined => sorted[Math.ceil(share * sorted.length) - 1]
  const [median, slow] = [at(0.5), at(0.95)]
  return (
    <Panel
      title={words.durations.title}
      aside={
        median === undefined || slow === undefined ? undefined : (
          <span>{words.durations.usual(formatDuration(median), formatDuration(slow))}</span>
        )
      }
      padded
    >
      {data === undefined ? (
        <Skeleton rows={3} />
      ) : runs.length === 0 ? (
        <EmptyState title={words.durations.none} />
      ) : (
        <Chart runs={runs} median={median} slow={slow} />
      )}
    </Panel>
  )
}

function Chart({
  runs,
  median,
  slow,
}: {
  runs: readonly RunMark[]
  median: number | undefined
  slow: number | undefined
}): ReactNode {
  const longest = Math.max(1, ...runs.map((run) => tookMs(run) ?? 0))
  const heightOf = (ms: number): number => Math.max(2, (ms / longest) * tall)
  return (
    <div className={styles['chart']}>
      <svg
        viewBox={`0 0 ${places * 3} ${tall}`}
        preserveAspectRatio="none"
        className={styles['bars']}
        role="group"
        aria-label={words.durations.label(runs.length, formatDuration(longest))}
      >
        {runs.map((run, index) => {
          const ms = tookMs(run) ?? 0
          const x = (places - runs.length + index) * 3
          return (
            // Bars are too many to step through; the history below lists the same runs.
            <a key={run.id} href={hrefOf(`/runs/${run.id}`)} tabIndex={-1}>
              <title>{words.durations.bar(run.state, formatDuration(ms), run.dueAt)}</title>
              <rect x={x} y={0} width={3} height={tall} className={styles['reach']} />
              <rect
                x={x}
                y={tall - heightOf(ms)}
                width={2.2}
                height={heightOf(ms)}
                data-family={marks[run.state].family}
              />
            </a>
          )
        })}
        {[median, slow].map((ms, index) =>
          ms === undefined ? null : (
            <line
              key={index === 0 ? 'median' : 'slow'}
              x1={0}
              x2={places * 3}
              y1={tall - heightOf(ms)}
              y2={tall - heightOf(ms)}
              className={styles['rule']}
            />
          ),
        )}
      </svg>
      <span className={styles['longest']}>{formatDuration(longest)}</span>
    </div>
  )
}
