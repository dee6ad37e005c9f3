import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { LedgerEntry } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useParams } from '../../data/location.js'
import { Breaches } from '../../parts/breaches.js'
import { Button } from '../../parts/button.js'
import { LongName } from '../../parts/text/long-name.js'
import { RangeDetail } from '../../parts/text/range-detail.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { useQualifiers } from '../../parts/qualifiers.js'
import { SearchField } from '../../parts/search-field.js'
import { EmptyState, ErrorState, LoadingBar, NothingMatches, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { useToast } from '../../parts/toast.js'
import { WhyButton } from '../../parts/why/why-button.js'
import { words } from '../../words/ledger.js'
import { reasons } from './days.js'
import { download } from './download.js'
import { exportText, type ExportFormat } from './export.js'
import { readFilter, type LedgerFilter } from './filter.js'
import styles from './page.module.css'

const pageSize = 50
/** As many ranges as one file holds. */
const mostExported = 10_000
const exportPage = 500

const qualifiers = [
  { name: 'trigger', about: words.qualifiers.trigger },
  { name: 'reason', about: words.qualifiers.reason, values: reasons },
]

/** The newest ranges, with a filter and as files. */
export function RangesPanel(): ReactNode {
  const [params, change] = useParams()
  const text = params.get('q') ?? ''
  const filter = readFilter(text)
  const completion = useQualifiers(qualifiers)
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ['ledger', filter.trigger, filter.reasons],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ signal, pageParam }) => readPage(filter, pageSize, pageParam, signal),
    getNextPageParam: ({ next }) => next ?? undefined,
    meta: { topics: ['ledger'] },
  })
  const entries = data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <Panel title={words.newest} aside={<ExportButtons filter={filter} />}>
      <div className={styles['filter']}>
        <SearchField
          value={text}
          onChange={(next) => change({ q: next === '' ? null : next })}
          label={words.filter}
          hint={words.filterHint}
          {...completion}
          error={filter.unknown.length === 0 ? undefined : words.unknownFilter(filter.unknown.join(' '))}
        />
      </div>
      <LoadingBar isLoading={isFetching} />
      {data === undefined ? (
        error === null ? (
          <Skeleton rows={6} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : entries.length > 0 ? (
        <>
          <Table label={words.newest} columns={columns} rows={entries} rowKey={({ seq }) => String(seq)} />
          {hasNextPage ? (
            <div className={styles['more']}>
              <Button onClick={() => void fetchNextPage()}>{words.older}</Button>
            </div>
          ) : null}
        </>
      ) : text === '' ? (
        <EmptyState title={words.empty.title} command={words.empty.command}>
          {words.empty.text}
        </EmptyState>
      ) : (
        <NothingMatches onClear={() => change({ q: null })} />
      )}
      <Breaches breaches={data?.pages[0]?.breaches ?? []} />
    </Panel>
  )
}

async function readPage(
  { trigger, reasons: chosen }: LedgerFilter,
  limit: number,
  before: number | undefined,
  signal?: AbortSignal,
) {
  return await api('GET /ledger', {
    query: {
      limit,
      ...(before === undefined ? {} : { before }),
      ...(trigger === undefined ? {} : { trigger }),
      ...(chosen.length === 0 ? {} : { reason: chosen }),
    },
    ...(signal === undefined ? {} : { signal }),
  })
}

function ExportButtons({ filter }: { filter: LedgerFilter }): ReactNode {
  const toast = useToast()
  const save = async (format: ExportFormat): Promise<void> => {
    const entries: LedgerEntry[] = []
    let next: number | undefined
    do {
      const page = await readPage(filter, exportPage, next)
      entries.push(...page.items)
      next = page.next ?? undefined
    } while (next !== undefined && entries.length < mostExported)
    const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
    download(`rota-ledger.${format}`, exportText(entries, format), type)
    const count = formatCount(entries.length)
    toast({ text: next === undefined ? words.exported(count) : words.exportedCut(count) })
  }
  const start = (format: ExportFormat): void =>
    void save(format).catch((error: unknown) =>
      toast({ text: error instanceof Error ? error.message : String(error) }),
    )
  return (
    <>
      <Button onClick={() => start('csv')}>{words.exportAs.csv}</Button>
      <Button onClick={() => start('ndjson')}>{words.exportAs.ndjson}</Button>
    </>
  )
}

const columns: readonly Column<LedgerEntry>[] = [
  { key: 'reason', head: words.columns.reason, cell: ({ reason }) => <StateMark mark={reason} /> },
  {
    key: 'trigger',
    head: words.columns.trigger,
    cell: ({ trigger }) => (
      <Link
        href={`/triggers/${encodeURIComponent(trigger)}`}
        className={styles['name']}
        title={trigger}
        aria-label={trigger}
      >
        <LongName>{trigger}</LongName>
      </Link>
    ),
  },
  {
    key: 'due',
    head: words.columns.due,
    align: 'end',
    cell: ({ firstAt }) => <Time at={firstAt} relative={false} />,
  },
  {
    key: 'until',
    head: words.columns.until,
    align: 'end',
    isEmpty: ({ firstAt, lastAt }) => firstAt === lastAt,
    cell: ({ firstAt, lastAt }) => (firstAt === lastAt ? null : <Time at={lastAt} relative={false} />),
  },
  {
    key: 'rule',
    head: words.columns.rule,
    cell: ({ rule, detail }) => (
      <>
        <code>{rule}</code>{' '}
        <bdi className="soft" title={detail ?? undefined}>
          <RangeDetail rule={rule} detail={detail} />
        </bdi>
      </>
    ),
    grows: true,
    isExtra: true,
  },
  {
    key: 'recorded',
    head: words.columns.recorded,
    cell: ({ recordedAt }) => <Time at={recordedAt} />,
    align: 'end',
    isExtra: true,
  },
  {
    key: 'why',
    head: <span className="visually-hidden">{words.columns.why}</span>,
    cell: ({ trigger, firstAt, lastAt }) => <WhyButton trigger={trigger} from={firstAt} until={lastAt} />,
    align: 'end',
  },
]
