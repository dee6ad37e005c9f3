import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Now, RunningRun } from '../../../../src/client/ui-operations.js'
import { formatCount, formatDuration } from '../../data/format.js'
import { useNow } from '../../data/now.js'
import { useAttempts } from '../../data/runs.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState } from '../../parts/states.js'
import { WithCode } from '../../parts/text/with-code.js'
import { attemptText } from '../../words/run.js'
import { words } from '../../words/now.js'
import styles from './page.module.css'

/** What runs now, for how long, and how long it usually takes. */
export function Running({ now: { running, workers } }: { now: Now }): ReactNode {
  // Only what is tried again says which attempt it is.
  const again = running.items.filter(({ attempt }) => attempt > 1)
  const allowed = useAttempts(again.map(({ job }) => job))
  const count =
    workers.slots === null
      ? words.running.count(formatCount(workers.running))
      : words.running.slots(formatCount(workers.running), formatCount(workers.slots))
  return (
    <Panel
      title={words.running.title}
      aside={
        <>
          <span>{count}</span>
          <span>{words.running.workers(workers.live)}</span>
        </>
      }
    >
      {running.items.length === 0 ? (
        <EmptyState
          title={<WithCode text={workers.live === 0 ? words.running.noWorker : words.running.nothing} />}
        />
      ) : (
        <ul>
          {running.items.map((run) => (
            <Row key={run.id} run={run} allowed={allowed.get(run.job)} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Row({ run, allowed }: { run: RunningRun; allowed: number | undefined }): ReactNode {
  const { id, trigger, job, worker, startedAt, usual, attempt } = run
  const now = useNow()
  const elapsedMs = startedAt === null ? 0 : Math.max(0, now - Date.parse(startedAt))
  const isLong = usual !== null && elapsedMs > usual.p95Ms
  return (
    <li className={styles['row']}>
      <StateMark mark="running" label={false} />
      <div className={styles['what']}>
        <span className={styles['first']}>
          <Link href={`/runs/${id}`} className={styles['name']}>
            {trigger ?? job}
          </Link>
          <span>{formatDuration(elapsedMs)}</span>
          {usual === null ? null : (
            <span className="soft">{words.running.usual(formatDuration(usual.medianMs))}</span>
          )}
          {attempt > 1 ? <span className="soft">{attemptText(run, allowed)}</span> : null}
          {isLong ? <StateMark mark="late" label={words.running.longer} /> : null}
        </span>
        <span className={`${styles['second']} cut`}>{worker}</span>
      </div>
      {usual === null ? null : (
        <div className={styles['progress']} data-over={isLong} aria-hidden="true">
          <span
            style={{ inlineSize: `${Math.min(100, (elapsedMs / Math.max(1, usual.medianMs)) * 100)}%` }}
          />
        </div>
      )}
    </li>
  )
}
