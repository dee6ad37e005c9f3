import { useId, type ReactNode } from 'react'
import styles from './panel.module.css'

/** A part of a page with a heading, actions at its end, and a border instead of a card. */
export function Panel({
  title,
  aside,
  children,
  padded = false,
}: {
  title: ReactNode
  aside?: ReactNode
  children: ReactNode
  /** Whether the content has space around it; rows of tables have their own. */
  padded?: boolean
}): ReactNode {
  const id = useId()
  return (
    <section className={styles['panel']} aria-labelledby={id}>
      <header className={styles['head']}>
        <h2 id={id}>{title}</h2>
        {aside === undefined ? null : <div className={styles['aside']}>{aside}</div>}
      </header>
      <div className={padded ? styles['padded'] : undefined}>{children}</div>
    </section>
  )
}
