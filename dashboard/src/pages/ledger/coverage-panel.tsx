import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useParams } from '../../data/location.js'
import { Button } from '../../parts/button.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Time } from '../../parts/time.js'
import { markWords, words as common } from '../../words/common.js'
import { words } from '../../words/ledger.js'
import { lengths, reasons, sumOf } from './days.js'
import { HeatMap } from './heat-map.js'
import styles from './page.module.css'

const pageSize = 20

/** Coverage by day: the number that must be 0, when it was proved, and the map. */
export function CoveragePanel(): ReactNode {
  const [params, change] = useParams()
  const days = lengths.find((one) => String(one) === params.get('days')) ?? usualDays()
  const query = useInfiniteQuery({
    queryKey: ['coverage-days', days],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      api('GET /coverage/days', {
        query: { days, limit: pageSize, ...(pageParam === undefined ? {} : { after: pageParam }) },
        signal,
      }),
    getNextPageParam: ({ next }) => next ?? undefined,
    meta: { topics: ['ledger'] },
  })
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch, dataUpdatedAt } = query
  const rows = data?.pages.flatMap(({ items }) => items) ?? []
  const proof = sumOf(rows.flatMap((row) => row.days))
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
                onClick={() => change({ days: one === usualDays() ? null : String(one) })}
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
        ) : rows.length === 0 ? (
          <EmptyState title={words.noTriggers.title} {...common.firstTrigger}>
            {words.noTriggers.text}
          </EmptyState>
        ) : (
          <>
            <ProofLine proof={proof} provedAt={dataUpdatedAt} shown={rows.length} isAll={!hasNextPage} />
            <HeatMap rows={rows} />
            {hasNextPage ? (
              <div className={styles['more']}>
                <Button onClick={() => void fetchNextPage()}>{words.more}</Button>
              </div>
            ) : null}
          </>
        )}
      </Panel>
      {rows.length === 0 ? null : <Reasons proof={proof} />}
    </>
  )
}

function ProofLine({
  proof: { due, run, explained, unexplained, uncounted },
  provedAt,
  shown,
  isAll,
}: {
  proof: ReturnType<typeof sumOf>
  provedAt: number
  shown: number
  /** Whether there are no more triggers. */
  isAll: boolean
}): ReactNode {
  const reasoned = Object.values(explained).reduce((all, count) => all + count, 0)
  return (
    <div className={styles['proof']}>
      <p className={styles['number']} data-zero={unexplained === 0} title={words.mustBeZero}>
        <strong>{formatCount(unexplained)}</strong>
        <span>{words.unexplained}</span>
        {unexplained === 0 ? (
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
        {isAll ? null : <span className="soft"> {words.ofTriggers(formatCount(shown))}</span>}
      </p>
      <p className="soft">
        {words.proved} <Time at={new Date(provedAt).toISOString()} />
        {uncounted === 0 ? null : ` · ${words.uncounted(formatCount(uncounted))}`}
      </p>
    </div>
  )
}

/** Why due times did not run, with counts; each reason filters the list below. */
function Reasons({ proof: { due, explained } }: { proof: ReturnType<typeof sumOf> }): ReactNode {
  const [, change] = useParams()
  const present = reasons.filter((reason) => (explained[reason] ?? 0) > 0)
  return (
    <section className={styles['reasons']} aria-label={words.reasons}>
      <h2>{words.reasons}</h2>
      {present.length === 0 ? (
        <span className="soft">{due === 0 ? words.noneDue : words.noReasons}</span>
      ) : null}
      {present.map((reason) => (
        <Button key={reason} onClick={() => change({ q: `reason:${reason}` })}>
          <StateMark mark={reason} label={markWords[reason]} /> {formatCount(explained[reason] ?? 0)}
        </Button>
      ))}
    </section>
  )
}

/** A phone has room for a week; the newest days must be on the screen. */
function usualDays(): (typeof lengths)[number] {
  return matchMedia('(max-width: 640px)').matches ? 7 : 30
}
