import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react'
import { isToldBeside } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useParams } from '../../data/location.js'
import { ownZone, useZone, useZoneChoice } from '../../data/zone.js'
import { EmptyState, ErrorState, LoadingBar, NothingMatches, Skeleton } from '../../parts/states.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/timeline.js'
import type { Trigger } from '../../../../src/client/operations.js'
import { usualLength } from './axis/view.js'
import { Chart } from './chart/chart.js'
import { readFilter } from './filter.js'
import { useLaneRows } from './lane/job-lanes.js'
import type { LaneData } from './lane/lane-data.js'
import { readSelection, selectedNames, selectionParams, type Selection } from './lane/select.js'
import { Legend } from './legend.js'
import styles from './page.module.css'
import { SelectionBar } from './selection-bar.js'
import { Toolbar } from './toolbar.js'
import { TwinTable } from './twin-table.js'
import { useLanes } from './use-lanes.js'
import { useTiles } from './use-tiles.js'
import { useView } from './use-view.js'

/** Lanes of jobs are made of so many triggers at most. */
const mostByJob = 500

/** The length that is shown first; it is decided once, so that nothing jumps. */
function useUsualLength(triggers: readonly Trigger[]): number {
  const [lengthMs, setLength] = useState<number>()
  if (lengthMs !== undefined) return lengthMs
  const oldestMs = Math.min(...triggers.map(({ definedAt }) => Date.parse(definedAt)))
  const found = usualLength(Date.now() - oldestMs)
  if (triggers.length > 0) setLength(found)
  return found
}

/** Everything on one axis: what ran, what did not and why, and what is due later. */
export default function TimelinePage(): ReactNode {
  const [params, change] = useParams()
  const filter = params.get('q') ?? ''
  const isByJob = params.get('lanes') === 'job'
  const isTable = params.get('as') === 'table'
  const selection = readSelection(params)
  const { triggers, pages, total, readMore, ...reading } = useLanes(filter)
  const state = useView(useUsualLength(triggers))
  const [rows, setRows] = useState({ first: 0, last: 50 })
  // The triggers of a job may be on any page.
  const tiles = useTiles(state.view, isByJob ? pages : pagesOf(pages, rows))
  const lanes = useFilteredLanes(tiles.lanes, filter)
  const shown = useLaneRows(triggers, lanes, isByJob)
  const [zone, zoneOfLane] = useZones(shown.lanes)
  const select = (next: Selection | undefined): void => change(selectionParams(next), { replace: true })
  const onRows = useCallback((first: number, last: number) => setRows({ first, last }), [])
  const isAtEnd = rows.last >= shown.rows.length && !(isByJob && triggers.length >= mostByJob)
  useEffect(() => {
    if (isAtEnd) readMore()
  }, [isAtEnd, triggers.length, readMore])
  const error = reading.error ?? tiles.error

  return (
    <div className={styles['page']}>
      <h1 className="visually-hidden">{words.title}</h1>
      <Toolbar
        state={state}
        filter={filter}
        onFilter={(text) => change({ q: text === '' ? null : text })}
        isByJob={isByJob}
        onByJob={(is) => change({ lanes: is ? 'job' : null, ...selectionParams(undefined) })}
        isTable={isTable}
        onTable={(next) => change({ as: next ? 'table' : null })}
      />
      <div className={styles['content']}>
        <LoadingBar isLoading={tiles.isLoading || reading.isLoading} />
        {error === null || (total !== undefined && !isToldBeside(error)) ? null : (
          <ErrorState error={error} onRetry={reading.error === null ? tiles.retry : reading.retry} />
        )}
        {total === undefined ? (
          error === null ? (
            <Skeleton rows={12} />
          ) : null
        ) : triggers.length === 0 ? (
          filter === '' ? (
            <EmptyState title={words.empty.title} {...common.firstTrigger}>
              {words.empty.text}
            </EmptyState>
          ) : (
            <NothingMatches onClear={() => change({ q: null })} />
          )
        ) : isTable ? (
          <TwinTable
            lanes={triggers.flatMap(({ name }) => lanes.get(name) ?? [])}
            view={state.view}
            isLoading={tiles.isLoading}
          />
        ) : (
          <Chart
            rows={shown.rows}
            lanes={shown.lanes}
            triggerAt={shown.triggerAt}
            state={state}
            zone={zone}
            zoneOfLane={zoneOfLane}
            selection={selection}
            onSelection={select}
            onRows={onRows}
          />
        )}
      </div>
      {total === undefined || triggers.length === 0 ? null : (
        <footer className={styles['foot']}>
          <Legend />
          <span className={styles['hint']}>{words.selection.hint}</span>
          <span className="soft">
            {words.lanesCount(
              formatCount(triggers.length),
              common.total(formatCount(total.count), total.capped),
            )}
          </span>
        </footer>
      )}
      {selection === undefined ? null : (
        <SelectionBar
          selection={selection}
          names={selectedNames(
            shown.rows.map(({ name }) => name),
            selection,
          ).flatMap(shown.triggersOf)}
          lanes={lanes}
          onClear={() => select(undefined)}
        />
      )}
    </div>
  )
}

/** The pages that hold some of the lanes. */
function pagesOf<One>(
  pages: readonly (readonly One[])[],
  { first, last }: { first: number; last: number },
): readonly (readonly One[])[] {
  let start = 0
  return pages.filter((page) => {
    const from = start
    start += page.length
    return from < last && start > first
  })
}

/** The lanes with only those marks that the filter names. */
function useFilteredLanes(
  lanes: ReadonlyMap<string, LaneData>,
  filter: string,
): ReadonlyMap<string, LaneData> {
  return useMemo(() => {
    const { marks } = readFilter(filter)
    if (marks === undefined) return lanes
    const isShown = (mark: string): boolean => (marks as ReadonlySet<string>).has(mark)
    const filtered = [...lanes].map(([name, lane]): [string, LaneData] => [
      name,
      {
        ...lane,
        points: lane.points.flatMap((point) => {
          const tally = Object.fromEntries(Object.entries(point.tally).filter(([mark]) => isShown(mark)))
          return Object.keys(tally).length === 0 ? [] : [{ ...point, tally }]
        }),
        bars: lane.bars.filter(({ mark }) => isShown(mark)),
      },
    ])
    return new Map(filtered)
  }, [lanes, filter])
}

/** The zone of the axis, and that of each lane. Where each trigger has its own, the axis has it if all are the same. */
function useZones(lanes: ReadonlyMap<string, LaneData>): readonly [string, (name: string) => string] {
  const [choice] = useZoneChoice()
  const around = useZone()
  const zones = new Set([...lanes.values()].flatMap(({ zone }) => zone ?? []))
  const [only] = zones
  if (choice !== 'trigger') return [around, () => around]
  return [zones.size === 1 && only !== undefined ? only : ownZone, (name) => lanes.get(name)?.zone ?? ownZone]
}
