/** What a page shows instead of its content: nothing yet, nothing there, or an error. */
import { useEffect, useState, type ReactNode } from 'react'
import { ApiError } from '../../../src/client/client.js'
import { words } from '../words/common.js'
import { Button } from './button.js'
import { CopyButton } from './copy-button.js'
import styles from './states.module.css'

/** An empty page teaches its first step: what would be here, and the command and the code that put it there. */
export function EmptyState({
  title,
  children,
  command,
  code,
  afterwards,
}: {
  title: ReactNode
  children?: ReactNode
  /** A command for a terminal. */
  command?: string
  /** What the config file needs. */
  code?: string
  /** A command that works after the config file is loaded. */
  afterwards?: string
}): ReactNode {
  return (
    <div className={styles['state']}>
      <h3>{title}</h3>
      {children === undefined ? null : <p className="soft">{children}</p>}
      {command === undefined ? null : <Taught where={words.teach.terminal} text={command} />}
      {code === undefined ? null : <Taught where={words.teach.config} text={code} />}
      {afterwards === undefined ? null : <Taught where={words.teach.afterwards} text={afterwards} />}
    </div>
  )
}

/** A text to copy, and where it belongs. */
function Taught({ where, text }: { where: string; text: string }): ReactNode {
  return (
    <figure className={styles['taught']}>
      <figcaption className="soft">{where}</figcaption>
      <div className={styles['command']}>
        {/* A box that scrolls must be reachable by keyboard. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <pre tabIndex={0}>{text}</pre>
        <CopyButton text={text} />
      </div>
    </figure>
  )
}

/** A list that is empty because of its filter. */
export function NothingMatches({ onClear }: { onClear: () => void }): ReactNode {
  return (
    <div className={styles['state']}>
      <p>{words.nothingMatches}</p>
      <Button onClick={onClear}>{words.clearFilter}</Button>
    </div>
  )
}

/** An error: its sentence, its code, what to do, and another try. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }): ReactNode {
  const known = error instanceof ApiError ? error : undefined
  return (
    <div className={styles['state']} role="alert">
      <h3>{words.error.title}</h3>
      <p>{known === undefined ? words.error.unreachable : known.message}</p>
      {known === undefined || known.todo === '' ? null : <p className="soft">{known.todo}</p>}
      {known === undefined ? null : <code className="soft">{known.code}</code>}
      {onRetry === undefined ? null : <Button onClick={onRetry}>{words.retry}</Button>}
    </div>
  )
}

/** Rows that stand for content on the first load only; later loads keep the old content. */
export function Skeleton({ rows = 4 }: { rows?: number }): ReactNode {
  const isShown = useAfter(150)
  return (
    <div className={styles['skeleton']} data-shown={isShown} role="status" aria-label={words.loading}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} style={{ inlineSize: `${90 - ((index * 23) % 50)}%` }} />
      ))}
    </div>
  )
}

/** A thin bar at the top of what is read again, after 150 ms. */
export function LoadingBar({ isLoading }: { isLoading: boolean }): ReactNode {
  return isLoading ? <Bar /> : null
}

function Bar(): ReactNode {
  return useAfter(150) ? (
    <div className={styles['bar']} role="progressbar" aria-label={words.loading} />
  ) : null
}

function useAfter(ms: number): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), ms)
    return () => clearTimeout(timer)
  }, [ms])
  return isOver
}
