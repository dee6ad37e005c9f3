import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api } from '../../data/api.js'
import { nextQuery } from '../../data/triggers.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/trigger-changes.js'
import { ConfirmDialog } from '../confirm-dialog.js'
import { UntilField } from '../forms/until-field.js'
import { Time } from '../time.js'
import { useToast } from '../toast.js'
import { changeMany } from './change-many.js'
import styles from './dialogs.module.css'

/** Asks before triggers are paused: what will be held back, why, and until when. */
export function PauseDialog({
  names,
  onClose,
}: {
  names: readonly string[]
  onClose: () => void
}): ReactNode {
  const toast = useToast()
  const [until, setUntil] = useState<string>()
  const [done, setDone] = useState(0)
  const pause = async (reason: string): Promise<void> => {
    const body = { reason, ...(until === undefined ? {} : { until }) }
    const changed = await changeMany(
      names,
      (name) => api('POST /triggers/{name}/pause', { path: { name }, body }),
      setDone,
    )
    const already = names.length - changed.length
    const text = [
      ...(changed.length > 0 ? [words.pause.done(changed)] : []),
      ...(already > 0 ? [words.pause.already(already)] : []),
    ].join(' ')
    const undo = async (): Promise<unknown> =>
      await changeMany(
        changed,
        (name) =>
          api('POST /triggers/{name}/resume', {
            path: { name },
            body: { catchUp: true, reason: common.undoReason },
          }),
        () => undefined,
      )
    toast(changed.length > 0 ? { text, undo } : { text })
  }
  return (
    <ConfirmDialog
      title={words.pause.title(names)}
      action={words.pause.action}
      onClose={onClose}
      onConfirm={pause}
    >
      <p>{words.pause.text}</p>
      {names.length === 1 ? <NextHeld name={names[0] as string} until={until} /> : null}
      <UntilField value={until} onChange={setUntil} />
      {done > 0 && names.length > 1 ? <p role="status">{words.progress(done, names.length)}</p> : null}
    </ConfirmDialog>
  )
}

function NextHeld({ name, until }: { name: string; until: string | undefined }): ReactNode {
  const { data } = useQuery(nextQuery(name, 3))
  const held = data?.items.filter(({ at }) => until === undefined || Date.parse(at) < Date.parse(until))
  if (held === undefined || held.length === 0) return null
  return (
    <div>
      <p className="soft">{words.pause.next}</p>
      <ul className={styles['instants']}>
        {held.map(({ at }) => (
          <li key={at}>
            <Time at={at} />
          </li>
        ))}
      </ul>
    </div>
  )
}
