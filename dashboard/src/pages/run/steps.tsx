import type { ReactNode } from 'react'
import type { Attempt, Run } from '../../../../src/client/operations.js'
import { formatDuration } from '../../data/format.js'
import { useNow } from '../../data/now.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/run.js'
import styles from './steps.module.css'

/** A moment in the life of a run, and what the time before it was spent on. */
interface Step {
  readonly name: string
  readonly at: string | null
  /** Since the step before. */
  readonly tookMs: number | undefined
  readonly cause: string
  readonly tone: 'quiet' | 'warn' | 'active' | 'ok' | 'bad'
}

/** Where the time went: due, recorded, claimed, started, ended, each with its cause. */
export function Steps({ run, attempts }: { run: Run; attempts: readonly Attempt[] }): ReactNode {
  const now = useNow()
  const steps = stepsOf(run, attempts, now)
  return (
    <ol className={styles['steps']} aria-label={words.steps.title}>
      {steps.map(({ name, at, tookMs, cause, tone }) => (
        <li key={name} data-tone={tone} data-empty={at === null}>
          <span className={styles['gap']}>
            {tookMs === undefined ? null : (
              <>
                <b>{formatDuration(tookMs)}</b> <span className="soft">{cause}</span>
              </>
            )}
          </span>
          <span className={styles['name']}>{name}</span>
          {at === null ? (
            <span className="soft">{words.steps.notYet}</span>
          ) : (
            <Time at={at} withMs relative={false} />
          )}
        </li>
      ))}
    </ol>
  )
}

const endTones: Readonly<Record<Run['state'], Step['tone']>> = {
  pending: 'quiet',
  running: 'active',
  done: 'ok',
  failed: 'bad',
  cancelled: 'quiet',
}

/** More than this between due and recorded means that no scheduler was running. */
const lateMs = 2000

function stepsOf(run: Run, attempts: readonly Attempt[], now: number): readonly Step[] {
  const [first] = attempts
  const { dueAt, createdAt, finishedAt, state } = run
  const claimedAt = first?.claimedAt ?? run.claimedAt
  const startedAt = first?.startedAt ?? run.startedAt
  const endAt = finishedAt ?? (state === 'running' ? new Date(now).toISOString() : null)
  const took = (from: string | null, to: string | null): number | undefined =>
    from === null || to === null ? undefined : Math.max(0, Date.parse(to) - Date.parse(from))
  const plannedMs = took(dueAt, createdAt)
  const isLate = (plannedMs ?? 0) > lateMs
  const waitedMs = took(createdAt, claimedAt)
  const ran = attempts.length > 1 ? words.steps.tries(attempts.length) : words.steps.performed
  return [
    { name: words.steps.due, at: dueAt, tookMs: undefined, cause: '', tone: 'quiet' },
    {
      name: words.steps.recorded,
      at: createdAt,
      tookMs: plannedMs,
      cause: isLate ? words.steps.plannedLate : words.steps.planned,
      tone: isLate ? 'warn' : 'quiet',
    },
    {
      name: words.steps.claimed,
      at: claimedAt,
      tookMs: waitedMs,
      cause: words.steps.waited,
      tone: (waitedMs ?? 0) > lateMs ? 'warn' : 'quiet',
    },
    {
      name: words.steps.started,
      at: startedAt,
      tookMs: took(claimedAt, startedAt),
      cause: words.steps.prepared,
      tone: 'quiet',
    },
    {
      name: words.steps.ended,
      at: finishedAt,
      tookMs: took(startedAt, endAt),
      cause: state === 'running' ? words.steps.performing : ran,
      tone: endTones[state],
    },
  ]
}
