import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Asset, Partition } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useParams } from '../../data/location.js'
import { useMay } from '../../data/session.js'
import { triggerHref } from '../../data/triggers.js'
import { BackfillDialog } from '../../parts/backfill/backfill-dialog.js'
import { Button } from '../../parts/button.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { words } from '../../words/assets.js'
import { MakeDialog } from './make-dialog.js'
import styles from './page.module.css'
import { PartitionGrid } from './partition-grid.js'

const newestOf: Readonly<Record<string, number>> = { hourly: 24 * 14, daily: 184, weekly: 106, monthly: 60 }
const most = 10_000
const states = ['missing', 'failed', 'stale', 'running', 'done'] as const

/** The partitions of one asset: which are made, and a way to make those that are selected. */
export function AssetPanel({ asset }: { asset: Asset }): ReactNode {
  const { name, partitions: grid, schedules } = asset
  const [newest, setNewest] = useState(newestOf[grid.kind] ?? 400)
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['asset', name, 'partitions', newest],
    queryFn: ({ signal }) =>
      api('GET /assets/{name}/partitions', { path: { name }, query: { newest }, signal }),
    meta: { topics: ['runs'] },
    placeholderData: (before) => before,
  })
  const items = data?.items ?? []
  return (
    <Panel
      title={name}
      aside={
        <>
          <span>{words.kind(grid.kind, timezoneOf(grid))}</span>
          {schedules.map((schedule) => (
            <span key={schedule.name}>
              {words.schedule} <Link href={triggerHref(schedule.name)}>{schedule.name}</Link>
            </span>
          ))}
        </>
      }
    >
      <LoadingBar isLoading={isFetching && data !== undefined} />
      {data === undefined ? (
        error === null ? (
          <Skeleton rows={6} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : items.length === 0 ? (
        <EmptyState title={words.noPartitions} />
      ) : (
        <Selectable asset={name} items={items} />
      )}
      {items.length < newest || newest >= most ? null : (
        <div className={styles['more']}>
          <Button tone="quiet" onClick={() => setNewest(Math.min(most, newest * 2))}>
            {words.older}
          </Button>
        </div>
      )}
    </Panel>
  )
}

function timezoneOf(grid: Asset['partitions']): string {
  return typeof grid['timezone'] === 'string' ? grid['timezone'] : ''
}

/** The grid, its legend, and the actions for the selection, which is in the address. */
function Selectable({ asset, items }: { asset: string; items: readonly Partition[] }): ReactNode {
  const [params, change] = useParams()
  const { why } = useMay('operate')
  const [asking, setAsking] = useState<'backfill' | 'make'>()
  const at = (label: string | null): number => items.findIndex(({ partition }) => partition === label)
  const [from, to] = [at(params.get('from')), at(params.get('to'))]
  const selected = from < 0 || to < 0 ? [] : items.slice(from, to + 1)
  const [first, last] = [selected[0]?.partition, selected.at(-1)?.partition]
  const off = why ?? (first === undefined ? words.selectFirst : undefined)
  const close = (): void => setAsking(undefined)
  return (
    <div className={styles['body']}>
      <ul className={styles['legend']} aria-label={words.legend}>
        {states.map((state) => (
          <li key={state}>
            <StateMark mark={state} label={words.count(state, countOf(items, state))} />
          </li>
        ))}
      </ul>
      <PartitionGrid
        items={items}
        selected={from < 0 || to < 0 ? undefined : [from, to]}
        onSelect={(range) =>
          change(
            {
              from: range === undefined ? null : (items[range[0]]?.partition ?? null),
              to: range === undefined ? null : (items[range[1]]?.partition ?? null),
            },
            { replace: true },
          )
        }
      />
      <div className={styles['selection']} role="group" aria-label={words.selection}>
        <span aria-live="polite">
          {first === undefined || last === undefined
            ? words.hint
            : words.selected(formatCount(selected.length), first, last)}
        </span>
        <span className={styles['actions']}>
          {selected.length === 1 && selected[0]?.run != null ? (
            <Link href={`/runs/${selected[0].run}`}>{words.openRun}</Link>
          ) : null}
          {selected.length === 1 ? (
            <Button why={off} onClick={() => setAsking('make')}>
              {words.make.button}
            </Button>
          ) : null}
          <Button tone="main" why={off} onClick={() => setAsking('backfill')}>
            {words.planBackfill}
          </Button>
        </span>
      </div>
      {asking === undefined || first === undefined || last === undefined ? null : asking === 'make' ? (
        <MakeDialog asset={asset} partition={first} onClose={close} />
      ) : (
        <BackfillDialog asset={asset} from={first} to={last} onClose={close} />
      )}
    </div>
  )
}

function countOf(items: readonly Partition[], state: Partition['state']): string {
  return formatCount(items.filter((one) => one.state === state).length)
}
