import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { holdQuery } from '../data/holds.js'
import { useMay } from '../data/session.js'
import { Button } from '../parts/button.js'
import { StateMark } from '../parts/state-mark.js'
import { ThawDialog } from '../parts/thaw-dialog.js'
import { Time } from '../parts/time.js'
import { words } from '../words/shell.js'
import styles from './freeze-banner.module.css'

/** Says that everything is frozen, by whom, since when and until when, and thaws it. */
export function FreezeBanner(): ReactNode {
  const { data: freeze } = useQuery(holdQuery('all'))
  const { why } = useMay('admin')
  const [isAsking, setAsking] = useState(false)
  if (freeze == null) return null
  const { by, fromAt, untilAt, note } = freeze
  return (
    <div className={styles['banner']}>
      <StateMark mark="frozen" label={words.freeze.by(by)} />
      <span>
        {words.freeze.since} <Time at={fromAt} />
      </span>
      <span>
        {untilAt === null ? (
          words.freeze.noEnd
        ) : (
          <>
            {words.freeze.until} <Time at={untilAt} />
          </>
        )}
      </span>
      {note === '' ? null : <q className={styles['note']}>{note}</q>}
      <span className={styles['action']}>
        <Button why={why} onClick={() => setAsking(true)}>
          {words.freeze.thaw}
        </Button>
      </span>
      {isAsking ? <ThawDialog freeze={freeze} onClose={() => setAsking(false)} /> : null}
    </div>
  )
}
