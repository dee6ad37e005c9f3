import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Coverage } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useParams } from '../../data/location.js'
import { Button } from '../../parts/button.js'
import { StateMark } from '../../parts/mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Time } from '../../parts/time.js'
import { markWords, words as common } from '../../words/common.js'
import { words } from '../../words/ledger.js'
import { lengths, reasons } from './days.js'
import { HeatMap } from './heat-map.js'
import styles from './page.module.css'

const pageSize = 20
const day = 86_400_000

/** Coverage by day: the number that must be 0, when it was proved, and the map. */
export function CoveragePanel(): ReactNode {
  const [params, change] = useParams()
  const days = lengths.find((one) => String(one) === params.get('days')) ?? 30
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ['ledger-triggers'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      api('GET /triggers', {
        query: { limit: pageSize, ...(pageParam === undefined ? {} : { after: pageParam }) },
        signal,
      }),
    getNextPageParam: ({ next }) => next ?? undefined,
    meta: { topics: ['holds'] },
  })
  const triggers = data?.pages.flatMap(({ items }) => items) ?? []
  const total = data?.pages[0]?.total
  const proof = useProof(
    triggers.map(({ name }) => name),
    days,
  )
  return (
    <>
      <Panel
        title={words.coverage}
        aside={
          <div className={styles['lengths']} role="group" aria-label={words.length}>
            {lengths.map((one) => (
              <button
                key={one}
                type="button"
                aria-pressed={one === days}
                onClick={() => change({ days: one === 30 ? null : String(one) })}
              >
                {words.days(one)}
              </button>
            ))}
          </div>
        }
      >
        <LoadingBar isLoading={isFetching} />
        {data === undefined ? (
          error === null ? (
            <Skeleton rows={8} />
          ) : (
            <ErrorState error={error} onRetry={() => void refetch()} />
          )
        ) : triggers.length === 0 ? (
          <EmptyState title={words.noTriggers.title} command={words.noTriggers.command}>
            {words.noTriggers.text}
          </EmptyState>
        ) : (
          <>
            <ProofLine proof={proof} shown={triggers.length} total={total} />
            <HeatMap triggers={triggers} days={days} />
            {hasNextPage ? (
              <div className={styles['more']}>
                <Button onClick={() => void fetchNextPage()}>{words.more}</Button>
              </div>
            ) : null}
          </>
        )}
      </Panel>
      {triggers.length === 0 ? null : <Reasons proof={proof} />}
    </>
  )
}

/** What was compared, and when. */
interface Proof {
  readonly due: number
  readonly run: number
  readonly explained: Readonly<Record<string, number>>
  readonly unexplained: number
  /** When the oldest part of it was read; undefined while something is missing. */
  readonly provedAt: number | undefined
  readonly error: Error | null
}

function useProof(names: readonly string[], days: number): Proof {
  // A beginning that does not move with every drawing.
  const since = new Date((Math.floor(Date.now() / day) - days + 1) * day).toISOString()
  const answers = useQueries({
    queries: names.map((trigger) => ({
      queryKey: ['coverage', trigger, since],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api('GET /coverage', { query: { trigger, since }, signal }),
      meta: { topics: ['ledger'] as const },
    })),
  })
  const parts: readonly Coverage[] = answers.flatMap(({ data }) => data?.items ?? [])
  const sum = (count: (one: Coverage) => number): number => parts.reduce((all, one) => all + count(one), 0)
  const explained: Record<string, number> = {}
  for (const part of parts) {
    for (const [reason, count] of Object.entries(part.explained))
      explained[reason] = (explained[reason] ?? 0) + count
  }
  const isComplete = answers.length > 0 && answers.every(({ data }) => data !== undefined)
  return {
    due: sum(({ due }) => due),
    run: sum(({ run }) => run),
    explained,
    unexplained: sum(({ unexplainedCount }) => unexplainedCount),
    provedAt: isComplete ? Math.min(...answers.map(({ dataUpdatedAt }) => dataUpdatedAt)) : undefined,
    error: answers.find(({ error }) => error !== null)?.error ?? null,
  }
}

function ProofLine({
  proof: { due, run, explained, unexplained, provedAt, error },
  shown,
  total,
}: {
  proof: Proof
  shown: number
  total: { count: number; capped: boolean } | undefined
}): ReactNode {
  if (error !== null) return <ErrorState error={error} />
  const reasoned = Object.values(explained).reduce((all, count) => all + count, 0)
  return (
    <div className={styles['proof']}>
      <p className={styles['number']} data-zero={unexplained === 0} title={words.mustBeZero}>
        <strong>{provedAt === undefined ? '–' : formatCount(unexplained)}</strong>
        <span>{words.unexplained('').trim()}</span>
        {provedAt === undefined ? null : unexplained === 0 ? (
          <span aria-hidden="true">✓</span>
        ) : (
          <StateMark mark="unexplained" label={false} />
        )}
      </p>
      <p>
        {[
          words.due(formatCount(due)),
          words.run(formatCount(run)),
          words.explained(formatCount(reasoned)),
        ].join(' · ')}
        {total === undefined || (total.count === shown && !total.capped) ? null : (
          <span className="soft">
            {' '}
            {words.ofTriggers(formatCount(shown), common.total(formatCount(total.count), total.capped))}
          </span>
        )}
      </p>
      <p className="soft">
        {provedAt === undefined ? (
          words.proving
        ) : (
          <>
            {words.proved} <Time at={new Date(provedAt).toISOString()} />
          </>
        )}
      </p>
    </div>
  )
}

/** Why instants did not run, with how many; each one filters the list below. */
function Reasons({ proof: { explained } }: { proof: Proof }): ReactNode {
  const [, change] = useParams()
  const present = reasons.filter((reason) => (explained[reason] ?? 0) > 0)
  return (
    <section className={styles['reasons']} aria-label={words.reasons}>
      <h2>{words.reasons}</h2>
      {present.length === 0 ? <span className="soft">{words.noReasons}</span> : null}
      {present.map((reason) => (
        <Button key={reason} onClick={() => change({ q: `reason:${reason}` })}>
          <StateMark mark={reason} label={markWords[reason]} /> {formatCount(explained[reason] ?? 0)}
        </Button>
      ))}
    </section>
  )
}
