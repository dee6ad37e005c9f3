import type { ReactNode } from 'react'
import { Button } from '../../parts/button.js'
import { useQualifiers } from '../../parts/qualifiers.js'
import { SearchField } from '../../parts/search-field.js'
import { marks } from '../../design/marks.js'
import { useKeys } from '../../shell/keys.js'
import { words } from '../../words/timeline.js'
import { lengthOf, panned, ranges, zoomed } from './axis/view.js'
import { readFilter } from './filter.js'
import styles from './page.module.css'
import type { ViewState } from './use-view.js'

const markNames = Object.keys(marks)
const qualifiers = [
  { name: 'job', about: words.qualifiers.job },
  { name: 'queue', about: words.qualifiers.queue },
  { name: 'source', about: words.qualifiers.source },
  { name: 'state', about: words.qualifiers.state, values: ['active', 'paused', 'ended', 'any'] },
  { name: 'mark', about: words.qualifiers.mark, values: [...markNames, '!done'] },
]

/** How far a key or a button moves, as a part of what is shown. */
const step = 0.5
const zoomStep = 1.6

/** Filter, length of the stretch, moving, and the table. */
export function Toolbar({
  state: { view, isFollowing, show, follow },
  filter,
  onFilter,
  isByJob,
  onByJob,
  isTable,
  onTable,
}: {
  state: ViewState
  filter: string
  onFilter: (text: string) => void
  isByJob: boolean
  onByJob: (isByJob: boolean) => void
  isTable: boolean
  onTable: (isTable: boolean) => void
}): ReactNode {
  const completion = useQualifiers(qualifiers)
  const { unknown } = readFilter(filter)
  const earlier = (): void => show((now) => panned(now, -step))
  const later = (): void => show((now) => panned(now, step))
  const closer = (): void => show((now) => zoomed(now, 1 / zoomStep))
  const wider = (): void => show((now) => zoomed(now, zoomStep))
  useKeys([
    { keys: '[', label: words.keys.earlier, act: earlier },
    { keys: ']', label: words.keys.later, act: later },
    { keys: '+', label: words.keys.closer, act: closer },
    { keys: '-', label: words.keys.wider, act: wider },
    { keys: '.', label: words.keys.now, act: () => follow() },
    { keys: 'v', label: words.keys.table, act: () => onTable(!isTable) },
  ])
  return (
    <div className={styles['toolbar']}>
      <div className={styles['filter']}>
        <SearchField
          value={filter}
          onChange={onFilter}
          label={words.filter}
          hint={words.filterHint}
          {...completion}
          error={unknown.length === 0 ? undefined : words.unknownFilter(unknown.join(' '))}
        />
      </div>
      <div className={styles['ranges']} role="group" aria-label={words.range}>
        {Object.entries(ranges).map(([name, ms]) => (
          <button
            key={name}
            type="button"
            aria-pressed={lengthOf(view) === ms}
            onClick={() => {
              if (isFollowing || (view.fromMs <= Date.now() && view.untilMs >= Date.now())) follow(ms)
              else show((now) => zoomed(now, ms / lengthOf(now)))
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div className={styles['moves']}>
        <Button aria-label={words.earlier} title={words.earlier} onClick={earlier}>
          ◀
        </Button>
        <Button onClick={() => follow()} aria-pressed={isFollowing}>
          {words.now}
        </Button>
        <Button aria-label={words.later} title={words.later} onClick={later}>
          ▶
        </Button>
        <span className={styles['zoom']}>
          <Button aria-label={words.wider} title={words.wider} onClick={wider}>
            −
          </Button>
          <Button aria-label={words.closer} title={words.closer} onClick={closer}>
            +
          </Button>
        </span>
      </div>
      <div className={styles['ranges']} role="group" aria-label={words.lanes}>
        <button type="button" aria-pressed={!isByJob} onClick={() => onByJob(false)}>
          {words.byTrigger}
        </button>
        <button type="button" aria-pressed={isByJob} onClick={() => onByJob(true)}>
          {words.byJob}
        </button>
      </div>
      <Button aria-pressed={isTable} aria-label={words.table} onClick={() => onTable(!isTable)}>
        ⇄ <span className={styles['word']}>{words.table}</span>
      </Button>
    </div>
  )
}
