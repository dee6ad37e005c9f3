import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, useParams } from 'wouter'
import { isMissing } from '../../data/api.js'
import { attemptsQuery, runQuery } from '../../data/runs.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { words } from '../../words/run.js'
import { Attempts } from './attempts.js'
import { RunError } from './error.js'
import { Facts } from './facts.js'
import { RunHead } from './head.js'
import { JsonPanel } from './json-panel.js'
import { LogPanel } from './log-panel.js'
import styles from './page.module.css'
import { Steps } from './steps.js'
import { Waiting } from './waiting.js'

/** One run: its error first, then where its time went, its attempts, its log, and what it was given. */
export default function RunPage(): ReactNode {
  const { id } = useParams<{ id: string }>()
  const { data: run, error, isFetching, refetch } = useQuery(runQuery(id))
  const { data: attempts } = useQuery({ ...attemptsQuery(id), enabled: run !== undefined })
  if (isMissing(error)) {
    return (
      <EmptyState title={words.missing.title}>
        {words.missing.text} <Link href="/runs">{words.missing.list}</Link>
      </EmptyState>
    )
  }
  if (run === undefined) {
    return error === null ? (
      <Skeleton rows={8} />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    )
  }
  return (
    <div className={styles['page']}>
      <LoadingBar isLoading={isFetching} />
      <RunHead run={run} />
      <RunError run={run} />
      {run.state === 'pending' ? <Waiting id={run.id} /> : null}
      <Steps run={run} attempts={attempts?.items ?? []} />
      <div className={styles['columns']}>
        <div className={styles['column']}>
          <LogPanel run={run} />
          <Attempts attempts={attempts?.items} />
        </div>
        <div className={styles['column']}>
          <Facts run={run} />
          <JsonPanel title={words.payload} value={run.payload} />
          <JsonPanel title={words.result} value={run.result} />
        </div>
      </div>
    </div>
  )
}
