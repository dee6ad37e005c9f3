import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, wholeList } from '../../data/api.js'
import { useParams } from '../../data/location.js'
import { BackfillsPanel } from '../../parts/backfill/backfills.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { words } from '../../words/assets.js'
import { AssetPanel } from './asset-panel.js'
import { Graph } from './graph.js'
import styles from './page.module.css'

/** All assets as a graph, and the partitions of one of them. */
export default function AssetsPage(): ReactNode {
  const [params, change] = useParams()
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['assets'],
    queryFn: ({ signal }) => wholeList((query) => api('GET /assets', { query, signal })),
    meta: { topics: ['triggers'] },
  })
  if (data === undefined) {
    return error === null ? (
      <Skeleton rows={8} />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    )
  }
  if (data.items.length === 0) {
    return (
      <div className={styles['page']}>
        <h1>{words.title}</h1>
        <EmptyState title={words.empty.title} code={words.empty.code} afterwards={words.empty.afterwards}>
          {words.empty.text}
        </EmptyState>
      </div>
    )
  }
  const asked = params.get('asset')
  const chosen = data.items.find(({ name }) => name === asked) ?? data.items[0]
  return (
    <div className={styles['page']}>
      <LoadingBar isLoading={isFetching} />
      <h1>{words.title}</h1>
      <Panel title={words.graph}>
        <Graph
          assets={data.items}
          chosen={chosen?.name}
          onChoose={(name) => change({ asset: name, from: null, to: null })}
        />
      </Panel>
      {asked !== null && chosen?.name !== asked ? <p role="alert">{words.unknown(asked)}</p> : null}
      {chosen === undefined ? null : (
        <>
          <AssetPanel key={chosen.name} asset={chosen} />
          <BackfillsPanel asset={chosen.name} />
        </>
      )}
    </div>
  )
}
