import type { ReactNode } from 'react'
import { words } from '../../words/queues.js'
import styles from './page.module.css'
import { QueuesPanel } from './queues-panel.js'
import { WorkersPanel } from './workers-panel.js'

/** What waits where, and which processes work on it. */
export default function QueuesPage(): ReactNode {
  return (
    <div className={styles['page']}>
      <h1>{words.title}</h1>
      <QueuesPanel />
      <WorkersPanel />
    </div>
  )
}
