import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api, wholeList } from '../../data/api.js'
import { useParams } from '../../data/location.js'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.js'
import { words } from '../../words/planning/simulate.js'
import { SettingsForm } from './form.js'
import styles from './page.module.css'
import { Progress } from './progress.js'
import { Result } from './result.js'
import { settingNames, simulate, type Settings } from './simulation.js'

/** Simulates the next days, and shows lateness, load and the busiest minute. */
export default function SimulatePage(): ReactNode {
  const usual = useUsualSettings()
  return (
    <div className={styles['page']}>
      <h1>{words.title}</h1>
      <p className={styles['about']}>{words.about}</p>
      {usual === undefined ? <Skeleton /> : <Simulating usual={usual} />}
    </div>
  )
}

/** The address has the settings, so that a link shows the same: the same seed gives the same result. */
function Simulating({ usual }: { usual: Settings }): ReactNode {
  const client = useQueryClient()
  const [params, change] = useParams()
  const [share, setShare] = useState(0)
  const asked = Object.fromEntries(
    settingNames.map((name) => [name, params.get(name) ?? usual[name]]),
  ) as unknown as Settings
  const isStarted = params.get('run') === 'yes'
  const [edited, setEdited] = useState(asked)
  const queryKey = ['simulation', asked]
  const { data, error, isFetching, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => {
      setShare(0)
      return simulate(asked, { signal, onProgress: setShare })
    },
    enabled: isStarted,
    retry: false,
    // It uses a processor for seconds, so it starts only on request.
    meta: { isFixed: true },
  })
  const isEdited = settingNames.some((name) => edited[name] !== asked[name])
  const start = (): void => {
    if (isStarted && !isEdited) void refetch()
    else change({ ...edited, run: 'yes' })
  }
  const cancel = async (): Promise<void> => {
    await client.cancelQueries({ queryKey })
    if (data === undefined) change({ run: null })
  }
  return (
    <>
      <SettingsForm
        settings={edited}
        onChange={setEdited}
        isBusy={isFetching}
        isDone={data !== undefined}
        onStart={start}
        onCancel={() => void cancel()}
      />
      {isFetching ? <Progress share={share} /> : null}
      {error !== null && !isFetching ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data !== undefined ? (
        <Result result={data} isStale={isEdited} />
      ) : isFetching ? null : (
        <EmptyState title={words.empty} command={words.command}>
          {words.teach}
        </EmptyState>
      )}
    </>
  )
}

/** A week, with the processes that work now. */
function useUsualSettings(): Settings | undefined {
  const { data, error } = useQuery({
    queryKey: ['workers'],
    queryFn: ({ signal }) => wholeList((query) => api('GET /workers', { query, signal })),
    meta: { topics: ['runs'] },
  })
  if (data === undefined && error === null) return undefined
  const slots = (data?.items ?? []).flatMap(({ standing, slots: own }) =>
    standing === 'live' && typeof own === 'number' && own > 0 ? [own] : [],
  )
  return {
    days: '7',
    processes: String(Math.max(1, slots.length)),
    concurrency: String(slots.length === 0 ? 10 : Math.max(...slots)),
    crash: '',
    unknown: '1s',
    seed: '1',
  }
}
