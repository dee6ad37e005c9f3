import { useState, type ReactNode } from 'react'
import { isToldBeside } from '../../data/api.js'
import { go, useParams } from '../../data/location.js'
import { formatCount } from '../../data/format.js'
import { useMay } from '../../data/session.js'
import { triggerHref } from '../../data/triggers.js'
import { Button } from '../../parts/button.js'
import { useQualifiers } from '../../parts/qualifiers.js'
import { SearchField } from '../../parts/search-field.js'
import { EmptyState, ErrorState, LoadingBar, NothingMatches, Skeleton } from '../../parts/states.js'
import { PauseDialog } from '../../parts/triggers/pause-dialog.js'
import { ResumeDialog } from '../../parts/triggers/resume-dialog.js'
import { VirtualList } from '../../parts/virtual-list.js'
import { useKeys } from '../../shell/keys.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/triggers.js'
import { qualifiers, readFilter } from './filter.js'
import styles from './page.module.css'
import { HeadRow, TriggerRow } from './row.js'
import { useRowHeight } from './row-height.js'
import { useSelection } from './selection.js'
import { useTriggerList } from './use-list.js'
import { useRecent } from './use-recent.js'

/** All triggers: one search field, the newest runs of each, what comes next, and pausing many at once. */
export default function TriggersPage(): ReactNode {
  const [params, change] = useParams()
  const text = params.get('q') ?? ''
  const filter = readFilter(text)
  const completion = useQualifiers(qualifiers)
  const [cursor, setCursor] = useState<number>()
  const [shownRow, setShownRow] = useState(0)
  const list = useTriggerList(filter, shownRow)
  const { rows, total } = list
  const names = rows.map(({ name }) => name)
  const recent = useRecent(names, shownRow)
  const selection = useSelection(names)
  const [asking, setAsking] = useState<'pause' | 'resume'>()
  const rowHeight = useRowHeight()
  const move = (by: number): void =>
    setCursor((at) => Math.max(0, Math.min(rows.length - 1, (at ?? (by > 0 ? -1 : 1)) + by)))
  const here = cursor === undefined ? undefined : rows[cursor]
  const targets = selection.names.length > 0 ? selection.names : here === undefined ? [] : [here.name]
  const { why } = useMay('operate')
  const ask = (what: 'pause' | 'resume'): void => {
    if (targets.length > 0 && why === undefined) setAsking(what)
  }
  useKeys([
    { keys: 'j', label: words.keys.down, act: () => move(1) },
    { keys: 'k', label: words.keys.up, act: () => move(-1) },
    {
      keys: 'x',
      label: words.keys.select,
      act: () => cursor === undefined || selection.toggle(cursor, false),
    },
    { keys: 'Enter', label: words.keys.open, act: () => here === undefined || go(triggerHref(here.name)) },
    { keys: 'p', label: words.keys.pause, act: () => ask('pause') },
    { keys: 'Escape', label: words.keys.clear, act: () => selection.clear() },
  ])
  return (
    <div className={styles['page']}>
      <header className={styles['head']}>
        <h1>{words.title}</h1>
        {total === undefined ? null : (
          <span className="soft">{common.total(formatCount(total.count), total.capped)}</span>
        )}
      </header>
      <div className={styles['tools']}>
        <SearchField
          value={text}
          onChange={(q) => {
            selection.clear()
            setCursor(undefined)
            change({ q: q === '' ? null : q })
          }}
          label={words.search}
          hint={words.hint}
          {...completion}
          error={filter.error}
        />
        <SelectionBar count={selection.names.length} why={why} onAsk={ask} onClear={selection.clear} />
      </div>
      <div className={styles['list']}>
        <LoadingBar isLoading={list.isFetching && !list.isFirstLoad} />
        {list.error !== null && (list.isFirstLoad || isToldBeside(list.error)) ? (
          <ErrorState error={list.error} onRetry={list.again} />
        ) : filter.error !== undefined ? null : list.isFirstLoad ? (
          <Skeleton rows={10} />
        ) : rows.length === 0 ? (
          text === '' ? (
            <EmptyState title={words.empty.title} {...common.firstTrigger}>
              {words.empty.text}
            </EmptyState>
          ) : (
            <NothingMatches onClear={() => change({ q: null })} />
          )
        ) : (
          <VirtualList
            label={words.title}
            count={rows.length}
            rowHeight={rowHeight}
            onEnd={list.more}
            onShow={setShownRow}
            showRow={cursor}
            head={
              <HeadRow
                isAll={selection.isAll}
                onAll={selection.toggleAll}
                order={filter.query.order ?? 'name'}
              />
            }
            row={(index) => (
              <TriggerRow
                trigger={rows[index]}
                index={index}
                runs={recent.get(names[index] ?? '')}
                isSelected={selection.has(index)}
                isHere={index === cursor}
                onSelect={selection.toggle}
              />
            )}
          />
        )}
      </div>
      {asking === undefined ? null : asking === 'pause' ? (
        <PauseDialog names={targets} onClose={() => setAsking(undefined)} />
      ) : (
        <ResumeDialog names={targets} onClose={() => setAsking(undefined)} />
      )}
    </div>
  )
}

function SelectionBar({
  count,
  why,
  onAsk,
  onClear,
}: {
  count: number
  why: string | undefined
  onAsk: (what: 'pause' | 'resume') => void
  onClear: () => void
}): ReactNode {
  const off = why ?? (count === 0 ? words.selectFirst : undefined)
  return (
    <div className={styles['selection']} role="group" aria-label={words.selection}>
      {count === 0 ? null : (
        <>
          <span>{words.selected(formatCount(count))}</span>
          <Button tone="quiet" onClick={onClear}>
            {words.keys.clear}
          </Button>
        </>
      )}
      <Button why={off} onClick={() => onAsk('pause')}>
        {words.pause}
      </Button>
      <Button why={off} onClick={() => onAsk('resume')}>
        {words.resume}
      </Button>
    </div>
  )
}
