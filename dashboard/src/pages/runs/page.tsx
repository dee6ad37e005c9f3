import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'
import { api, isToldBeside } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { go, useParams } from '../../data/location.js'
import { useViews } from '../../data/views.js'
import { useZone } from '../../data/zone.js'
import { Button } from '../../parts/button.js'
import { SearchField } from '../../parts/search-field.js'
import { EmptyState, ErrorState, LoadingBar, NothingMatches, Skeleton } from '../../parts/states.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/runs.js'
import { BulkBar } from './bulk-bar.js'
import { BulkProgress } from './bulk-progress.js'
import { ErrorGroups } from './error-groups.js'
import styles from './page.module.css'
import { useCompletion, useFaults } from './query.js'
import { RunsTable } from './runs-table.js'
import { noSelection } from './selection.js'
import { useSteadyRows } from './steady-rows.js'
import { Views } from './views.js'

const perPage = 50

/** The list of runs. The address has its filter and its place. */
export default function RunsPage(): ReactNode {
  const [params, change] = useParams()
  const { views } = useViews()
  const zone = useZone()
  const q = (params.get('q') ?? views.find(({ isDefault }) => isDefault)?.q ?? '').trim()
  const completion = useCompletion(zone)
  const faults = useFaults(q, zone)
  // The list is read at the same time; a wrong filter is refused there too.
  const isReadable = (faults ?? []).length === 0
  const isByError = params.get('by') === 'error'
  const setFilter = (text: string): void => {
    const isKept = text === '' && views.some(({ isDefault }) => isDefault)
    change({ q: isKept ? ' ' : text, after: null, before: null })
  }
  return (
    <div className={styles['page']}>
      <h1 className="visually-hidden">{words.title}</h1>
      <SearchField
        value={q}
        onChange={setFilter}
        label={words.filter}
        hint={words.hint}
        {...completion}
        error={
          faults === undefined || faults.length === 0
            ? undefined
            : faults.map(({ message, allowed }) => words.fault(message, allowed)).join(' · ')
        }
        wrong={faults ?? []}
      />
      <Views
        q={q}
        onChoose={setFilter}
        isByError={isByError}
        onByError={(is) => change({ by: is ? 'error' : null, after: null, before: null })}
      />
      <BulkProgress named={params.get('bulk')} onClose={() => change({ bulk: null })} />
      {isByError ? (
        <div className={styles['list']}>
          <ErrorGroups q={q} zone={zone} isReadable={isReadable} />
        </div>
      ) : (
        <RunsList
          q={q}
          zone={zone}
          isReadable={isReadable}
          place={{ after: params.get('after'), before: params.get('before') }}
          onPlace={change}
          onClear={() => setFilter('')}
          onBegun={(bulk) => change({ bulk })}
        />
      )}
    </div>
  )
}

/** Where a page of the list begins, or ends. */
interface Place {
  readonly after: string | null
  readonly before: string | null
}

function RunsList({
  q,
  zone,
  isReadable,
  place,
  onPlace,
  onClear,
  onBegun,
}: {
  q: string
  zone: string
  /** Whether nothing is wrong with the filter. */
  isReadable: boolean
  place: Place
  onPlace: (place: { readonly [Key in keyof Place]: string | null }) => void
  onClear: () => void
  onBegun: (bulk: string) => void
}): ReactNode {
  const [selection, select] = useState(noSelection)
  const { after, before } = place
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['runs', { q, zone, after, before }],
    queryFn: ({ signal }) => {
      const from = before !== null ? { before } : after !== null ? { after } : {}
      return api('GET /runs', { query: { q, zone, limit: perPage, ...from }, signal })
    },
    enabled: isReadable,
    placeholderData: (previous) => previous,
    // What an action on many runs has changed is told as a change of state.
    meta: { topics: ['runs', 'state'] },
  })
  useEffect(() => select(noSelection), [q])
  const rows = useSteadyRows(data?.items, `${q} ${after} ${before}`)
  const isNewest = after === null && before === null
  const goTo = (to: Place): void => {
    select(noSelection)
    onPlace(to)
  }
  const total = data === undefined ? '' : common.total(formatCount(data.total.count), data.total.capped)
  if (data === undefined) {
    if (!isReadable) return null
    return error === null ? (
      <Skeleton rows={10} />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    )
  }
  return (
    <div className={styles['list']} onPointerEnter={rows.hold} onPointerLeave={rows.release}>
      <LoadingBar isLoading={isFetching} />
      {rows.waiting === 0 ? null : <Button onClick={rows.show}>{words.showNew(rows.waiting)}</Button>}
      {isReadable && isToldBeside(error) ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {rows.items.length === 0 && data.next === null && isNewest ? (
        q === '' ? (
          <EmptyState title={words.empty.title} code={words.empty.code} afterwards={words.empty.afterwards}>
            {words.empty.text}
          </EmptyState>
        ) : (
          <NothingMatches onClear={onClear} />
        )
      ) : (
        <>
          <BulkBar
            ids={rows.items.map(({ id }) => id)}
            q={q}
            zone={zone}
            total={total}
            selection={selection}
            onSelect={select}
            onBegun={onBegun}
          />
          {rows.items.length === 0 ? (
            <p className={styles['far']}>{words.lookedFar}</p>
          ) : (
            <RunsTable
              runs={rows.items}
              selection={selection}
              onSelect={select}
              onOpen={(id) => go(`/runs/${id}`)}
            />
          )}
          <footer className={styles['pager']}>
            <Button
              why={isNewest ? words.atNewest : undefined}
              onClick={() => goTo({ after: null, before: null })}
            >
              {words.first}
            </Button>
            <Button
              why={data.previous === null ? words.atNewest : undefined}
              onClick={() => goTo({ after: null, before: data.previous })}
            >
              ← {words.newer}
            </Button>
            <span className="soft">{words.found(total)}</span>
            <Button
              why={data.next === null ? words.atOldest : undefined}
              onClick={() => goTo({ after: data.next, before: null })}
            >
              {words.older} →
            </Button>
          </footer>
        </>
      )}
    </div>
  )
}
