import { memo, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Trigger } from '../../../../src/client/operations.js'
import type { RunMark } from '../../../../src/client/ui-operations.js'
import { triggerHref } from '../../data/triggers.js'
import { Sparkline } from '../../parts/charts/sparkline.js'
import { LongName } from '../../parts/text/long-name.js'
import { StateMark } from '../../parts/state-mark.js'
import { Time } from '../../parts/time.js'
import { TriggerState } from '../../parts/triggers/trigger-state.js'
import { ScheduleLine, scheduleText, zoneOf } from '../../parts/why/schedule-line.js'
import { WhyButton } from '../../parts/why/why-button.js'
import { words } from '../../words/triggers.js'
import styles from './page.module.css'

/** The headings of the columns, and the box that selects all. */
export function HeadRow({
  isAll,
  onAll,
  order,
}: {
  isAll: boolean
  onAll: () => void
  order: 'name' | 'next'
}): ReactNode {
  const { columns } = words
  return (
    <div role="rowgroup">
      <div role="row" className={styles['headings']}>
        <span role="columnheader">
          <input type="checkbox" aria-label={words.selectAll} checked={isAll} onChange={onAll} />
        </span>
        <span role="columnheader">
          <span className="visually-hidden">{columns.state}</span>
        </span>
        <span role="columnheader" aria-sort={order === 'name' ? 'ascending' : undefined}>
          {columns.name}
        </span>
        <span role="columnheader" data-part="schedule">
          {columns.schedule}
        </span>
        <span role="columnheader" data-part="runs">
          {columns.runs}
        </span>
        <span role="columnheader" data-part="last">
          {columns.last}
        </span>
        <span role="columnheader" data-part="next" aria-sort={order === 'next' ? 'ascending' : undefined}>
          {columns.next}
        </span>
      </div>
    </div>
  )
}

/** One trigger in the list. It is drawn again only when something of it changes: scrolling moves many of them. */
export const TriggerRow = memo(function TriggerRow({
  trigger,
  index,
  runs = none,
  isSelected,
  isHere,
  onSelect,
}: {
  trigger: Trigger | undefined
  index: number
  /** Its newest runs, once they are read. */
  runs: readonly RunMark[] | undefined
  isSelected: boolean
  isHere: boolean
  onSelect: (index: number, isRange: boolean) => void
}): ReactNode {
  if (trigger === undefined) return null
  const { name, state, nextAt } = trigger
  const zone = zoneOf(trigger)
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      className={styles['row']}
      data-selected={isSelected}
      data-here={isHere}
      data-off={state !== 'on'}
    >
      <span role="cell">
        <input
          type="checkbox"
          aria-label={words.select(name)}
          checked={isSelected}
          onChange={() => undefined}
          onClick={({ shiftKey }) => onSelect(index, shiftKey)}
        />
      </span>
      <span role="cell" data-part="state">
        <TriggerState state={state} isShort />
      </span>
      <span role="cell" data-part="name">
        <Link href={triggerHref(name)} className="cut" title={name} aria-label={name}>
          <LongName>{name}</LongName>
        </Link>
      </span>
      <span role="cell" data-part="schedule" className="cut soft" title={scheduleText(trigger)}>
        <ScheduleLine trigger={trigger} />
      </span>
      <span role="cell" data-part="runs">
        <Sparkline runs={runs} />
      </span>
      <span role="cell" data-part="last">
        <LastRun trigger={trigger} run={runs[0]} />
      </span>
      <span role="cell" data-part="next">
        {nextAt !== null && state === 'on' ? (
          <Time at={nextAt} zone={zone} />
        ) : (
          <span className="soft">{state === 'on' ? words.noNext : words.states[state]}</span>
        )}
      </span>
    </div>
  )
})

const none: readonly RunMark[] = []

function LastRun({ trigger, run }: { trigger: Trigger; run: RunMark | undefined }): ReactNode {
  const { name, state, schedule } = trigger
  const { at } = schedule
  if (run !== undefined) {
    return (
      <WhyButton trigger={name} from={run.dueAt}>
        <StateMark mark={run.state} label={false} />
        <Time at={run.dueAt} zone={zoneOf(trigger)} />
      </WhyButton>
    )
  }
  // It was due once: there is an answer to why.
  if (state === 'over' && typeof at === 'string') {
    return (
      <WhyButton trigger={name} from={at}>
        {words.didNotRun}
      </WhyButton>
    )
  }
  return <span className="soft">{words.neverRan}</span>
}
