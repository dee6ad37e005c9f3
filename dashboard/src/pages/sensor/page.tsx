import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, useParams } from 'wouter'
import { api, isMissing } from '../../data/api.js'
import { InZoneOf } from '../../data/zone.js'
import { JsonBlock } from '../../parts/text/json-block.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { words } from '../../words/sensors.js'
import { Evaluations } from './evaluations.js'
import { SensorFacts } from './facts.js'
import { SensorHead } from './head.js'
import styles from './page.module.css'

/** One sensor: whether it works, each of its polls with the reason, and what it remembers. */
export default function SensorPage(): ReactNode {
  const { name } = useParams<{ name: string }>()
  const {
    data: sensor,
    error,
    isFetching,
    refetch,
  } = useQuery({
    queryKey: ['sensor', name],
    queryFn: ({ signal }) => api('GET /sensors/{name}', { path: { name }, signal }),
    meta: { topics: ['runs', 'ledger', 'triggers', 'holds'] },
  })
  if (isMissing(error)) {
    return (
      <>
        <h1>{name}</h1>
        <EmptyState title={words.missing.title(name)}>
          <Link href="/sensors">{words.missing.list}</Link>
        </EmptyState>
      </>
    )
  }
  if (sensor === undefined) {
    return error === null ? (
      <Skeleton rows={8} />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    )
  }
  return (
    <InZoneOf zone={sensor.timezone}>
      <div className={styles['page']}>
        <LoadingBar isLoading={isFetching} />
        <SensorHead sensor={sensor} />
        <div className={styles['columns']}>
          <Evaluations name={sensor.name} />
          <div className={styles['column']}>
            <SensorFacts sensor={sensor} />
            <Panel title={words.state.title} padded>
              {sensor.state === null ? (
                <p className="soft">{words.state.none}</p>
              ) : (
                <JsonBlock value={sensor.state} />
              )}
            </Panel>
          </div>
        </div>
      </div>
    </InZoneOf>
  )
}
