import type { ReactNode } from 'react'
import { words } from '../../words/ledger.js'
import { CoveragePanel } from './coverage-panel.js'
import styles from './page.module.css'
import { RangesPanel } from './ranges-panel.js'

/** The results of all due times: coverage by day, the reasons, and the newest ranges. */
export default function LedgerPage(): ReactNode {
  return (
    <div className={styles['page']}>
      <h1 className="visually-hidden">{words.title}</h1>
      <CoveragePanel />
      <RangesPanel />
    </div>
  )
}
