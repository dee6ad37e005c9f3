import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api } from '../data/api.js'
import { holdsQuery } from '../data/holds.js'
import { useMay } from '../data/session.js'
import { Button } from '../parts/button.js'
import { ConfirmDialog } from '../parts/confirm-dialog.js'
import { StateMark } from '../parts/state-mark.js'
import { Time } from '../parts/time.js'
import { useToast } from '../parts/toast.js'
import { words } from '../words/shell.js'
import styles from './freeze-banner.module.css'

/** Says that everything is frozen, by whom, since when and until when, and thaws it. */
export function FreezeBanner(): ReactNode {
  const { data } = useQuery(holdsQuery)
  const { why } = useMay('admin')
  const [isAsking, setAsking] = useState(false)
  const freeze = data?.items.find(({ target }) => target === 'all')
  if (freeze === undefined) return null
  const { by, fromAt, note } = freeze
  return (
    <div className={styles['banner']}>
      <StateMark mark="frozen" label={words.freeze.by(by)} />
      <span>
        {words.freeze.since} <Time at={fromAt} />
      </span>
      {note === '' ? null : <q className={styles['note']}>{note}</q>}
      <span className={styles['action']}>
        <Button why={why} onClick={() => setAsking(true)}>
          {words.freeze.thaw}
        </Button>
      </span>
      {isAsking ? <ThawDialog onClose={() => setAsking(false)} /> : null}
    </div>
  )
}

function ThawDialog({ onClose }: { onClose: () => void }): ReactNode {
  const toast = useToast()
  const [catchUp, setCatchUp] = useState(false)
  return (
    <ConfirmDialog
      title={words.freeze.thawTitle}
      action={words.freeze.thaw.replace('…', '')}
      onClose={onClose}
      onConfirm={async (reason) => {
        await api('POST /thaw', { body: { reason, catchUp } })
        toast({ text: words.freeze.thawed })
      }}
    >
      <p>{words.freeze.thawText}</p>
      <label className={styles['choice']}>
        <input type="checkbox" checked={catchUp} onChange={() => setCatchUp(!catchUp)} />
        {words.freeze.thawCatchUp}
      </label>
    </ConfirmDialog>
  )
}
