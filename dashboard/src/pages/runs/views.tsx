import { useState, type ReactNode } from 'react'
import { useViews, type SavedView } from '../../data/views.js'
import { Button } from '../../parts/button.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { useToast } from '../../parts/toast.js'
import { words } from '../../words/runs.js'
import styles from './page.module.css'

const given: readonly { readonly name: string; readonly q: string }[] = [
  { name: words.views.all, q: '' },
  { name: words.views.failed, q: 'state:failed' },
  { name: words.views.running, q: 'state:running' },
  { name: words.views.waiting, q: 'state:pending' },
]

/** Filters with a name: those that everybody has, and those that the reader saved. */
export function Views({
  q,
  onChoose,
  isByError,
  onByError,
}: {
  q: string
  onChoose: (q: string) => void
  isByError: boolean
  onByError: (isByError: boolean) => void
}): ReactNode {
  const { views, remove, save, restore } = useViews()
  const [isSaving, setSaving] = useState(false)
  const toast = useToast()
  const isKnown = [...given, ...views].some((view) => view.q === q)
  const removeView = (view: SavedView): void => {
    remove(view.name)
    toast({ text: words.views.removed(view.name), undo: async () => restore(views) })
  }
  return (
    <div className={styles['views']} role="group" aria-label={words.views.label}>
      {given.map((view) => (
        <Chip key={view.name} name={view.name} isOn={view.q === q} onClick={() => onChoose(view.q)} />
      ))}
      {views.map((view) => (
        <span key={view.name}>
          <Chip name={view.name} isOn={view.q === q} onClick={() => onChoose(view.q)} />
          {view.q === q ? (
            <Button tone="quiet" aria-label={words.views.remove(view.name)} onClick={() => removeView(view)}>
              ✕
            </Button>
          ) : null}
        </span>
      ))}
      {isKnown ? null : (
        <Button tone="quiet" onClick={() => setSaving(true)}>
          {words.views.save}
        </Button>
      )}
      <span className={styles['byError']}>
        <Chip name={words.errors.show} isOn={isByError} onClick={() => onByError(!isByError)} />
      </span>
      {isSaving ? (
        <SaveDialog q={q} onSave={save} onUndo={() => restore(views)} onClose={() => setSaving(false)} />
      ) : null}
    </div>
  )
}

function Chip({ name, isOn, onClick }: { name: string; isOn: boolean; onClick: () => void }): ReactNode {
  return (
    <button type="button" className={styles['view']} aria-pressed={isOn} onClick={onClick}>
      {name}
    </button>
  )
}

function SaveDialog(props: {
  q: string
  onSave: (view: SavedView) => void
  onUndo: () => void
  onClose: () => void
}): ReactNode {
  const { q, onSave, onUndo, onClose } = props
  const [name, setName] = useState('')
  const [isDefault, setDefault] = useState(false)
  const toast = useToast()
  return (
    <ConfirmDialog
      title={words.views.saveTitle}
      action={words.views.saveAction}
      asksReason={false}
      onClose={onClose}
      onConfirm={async () => {
        const text = name.trim() === '' ? q : name.trim()
        onSave({ name: text, q, isDefault })
        toast({ text: words.views.saved(text), undo: async () => onUndo() })
      }}
    >
      <p>
        <code>{q}</code>
      </p>
      <label className={styles['field']}>
        {words.views.name}
        <input value={name} maxLength={60} onChange={({ target }) => setName(target.value)} />
      </label>
      <label className={styles['choice']}>
        <input type="checkbox" checked={isDefault} onChange={() => setDefault(!isDefault)} />
        {words.views.asDefault}
      </label>
      <p className="soft">{words.views.saveText}</p>
    </ConfirmDialog>
  )
}
