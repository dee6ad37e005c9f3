import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { go, useParams } from '../../data/location.js'
import { useViews } from '../../data/views.js'
import { Button } from '../../parts/button.js'
import { EmptyState, ErrorState, LoadingBar, NothingMatches, Skeleton } from '../../parts/states.js'
import { SearchField } from '../../parts/search-field.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/runs.js'
import { BulkBar } from './bulk-bar.js'
import { readFilter } from './filter.js'
import styles from './page.module.css'
import { useRunQualifiers } from './qualifiers.js'
import { RunsTable } from './runs-table.js'
import { noSelection } from './selection.js'
import { useSteadyRows } from './steady-rows.js'
import { Views } from './views.js'

const perPage = 50

/** The list of runs. The address has its filter and its place. */
export default function RunsPage(): ReactNode {
  const [params, change] = useParams()
  const { views } = useViews()
  const qualifiers = useRunQualifiers()
  const [selection, select] = useState(noSelection)
  const q = params.get('q') ?? views.find(({ isDefault }) => isDefault)?.q ?? ''
  const after = params.get('after') ?? undefined
  const filter = readFilter(q)
  const fault = 'fault' in filter ? filter.fault : undefined
  const query = 'query' in filter ? filter.query : undefined
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['runs', { query, after }],
    queryFn: ({ signal }) =>
      api('GET /runs', {
        query: { ...query, limit: perPage, ...(after === undefined ? {} : { after }) },
        signal,
      }),
    enabled: query !== undefined,
    placeholderData: (previous) => previous,
    meta: { topics: ['runs'] },
  })
  const rows = useSteadyRows(data?.items, `${q} ${after}`)
  const setFilter = (text: string): void => {
    select(noSelection)
    change({
      q: text === '' && views.some(({ isDefault }) => isDefault) ? ' ' : text,
      after: null,
      before: null,
    })
  }
  const page = (to: string | null): void => {
    select(noSelection)
    change({ after: to })
  }
  const total = data === undefined ? '' : common.total(formatCount(data.total.count), data.total.capped)
  return (
    <div className={styles['page']}>
      <h1 className="visually-hidden">{words.title}</h1>
      <div className={styles['tools']}>
        <SearchField
          value={q.trim()}
          onChange={setFilter}
          label={words.filter}
          hint={words.hint}
          qualifiers={qualifiers}
          error={fault}
        />
        <span className="soft">{data === undefined ? null : words.found(total)}</span>
      </div>
      <Views q={q.trim()} onChoose={setFilter} />
      <div className={styles['list']} onPointerEnter={rows.hold} onPointerLeave={rows.release}>
        <LoadingBar isLoading={isFetching} />
        {rows.waiting === 0 ? null : <Button onClick={rows.show}>{words.showNew(rows.waiting)}</Button>}
        {error !== null ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
        {data === undefined ? (
          error === null ? (
            <Skeleton rows={10} />
          ) : null
        ) : rows.items.length === 0 && data.next === null ? (
          q.trim() === '' && after === undefined ? (
            <EmptyState title={words.empty.title} command={words.empty.command}>
              {words.empty.text}
            </EmptyState>
          ) : (
            <NothingMatches onClear={() => setFilter('')} />
          )
        ) : (
          <>
            <BulkBar runs={rows.items} selection={selection} onSelect={select} />
            <RunsTable
              runs={rows.items}
              selection={selection}
              onSelect={select}
              onOpen={(id) => go(`/runs/${id}`)}
            />
            <footer className={styles['pager']}>
              <Button why={after === undefined ? words.atNewest : undefined} onClick={() => page(null)}>
                {words.first}
              </Button>
              <Button why={data.next === null ? words.atOldest : undefined} onClick={() => page(data.next)}>
                {words.older} →
              </Button>
            </footer>
          </>
        )}
      </div>
    </div>
  )
}
