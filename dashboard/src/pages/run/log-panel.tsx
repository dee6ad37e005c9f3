import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { LogLine, Run } from '../../../../src/client/operations.js'
import { formatCount } from '../../data/format.js'
import { useLog } from '../../data/log.js'
import { printable } from '../../data/printable.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState } from '../../parts/states.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/run.js'
import styles from './log-panel.module.css'

/** What the run prints, as it prints it. */
export function LogPanel({ run }: { run: Run }): ReactNode {
  const log = useLog(run.id, run.attempt)
  const [isFollowing, setFollowing] = useState(true)
  const box = useRef<HTMLDivElement>(null)
  const { lines, dropped, isOpen, isLost } = log
  useEffect(() => {
    if (isFollowing && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [lines, isFollowing])
  return (
    <Panel
      title={words.log.title}
      aside={
        <label className={styles['follow']}>
          <input type="checkbox" checked={isFollowing} onChange={() => setFollowing(!isFollowing)} />
          {words.log.follow}
        </label>
      }
    >
      {lines.length === 0 ? (
        <EmptyState title={isOpen ? words.log.emptyYet : words.log.empty} />
      ) : (
        <div
          ref={box}
          className={styles['box']}
          role="log"
          aria-label={words.log.label}
          aria-live="off"
          // A box that scrolls must be reachable by keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
        >
          {dropped === 0 ? null : <p className="soft">{words.log.dropped(formatCount(dropped))}</p>}
          {lines.map((line) => (
            <Line key={line.seq} line={line} />
          ))}
        </div>
      )}
      {isLost ? <p className={styles['lost']}>{words.log.lost}</p> : null}
    </Panel>
  )
}

/** A line may be a megabyte: so much of it is shown. */
const mostCharacters = 4000

function Line({ line: { at, level, text } }: { line: LogLine }): ReactNode {
  const cut = text.length - mostCharacters
  return (
    <div className={styles['line']} data-level={level}>
      <Time at={at} withMs relative={false} />
      <span className={styles['level']}>{level}</span>
      <bdi className={styles['text']}>
        {printable(text.slice(0, mostCharacters))}
        {cut > 0 ? <span className="soft">{words.log.cut(formatCount(cut))}</span> : null}
      </bdi>
    </div>
  )
}
