import { useState, type ReactNode } from 'react'
import type { Run } from '../../../../src/client/operations.js'
import { useMay } from '../../data/session.js'
import { Button } from '../../parts/button.js'
import { words } from '../../words/runs.js'
import { BulkDialog } from './bulk-dialog.js'
import styles from './page.module.css'
import { noSelection, type Selection } from './selection.js'

/** What can be done with the selected runs. */
export function BulkBar({
  runs,
  selection,
  onSelect,
}: {
  /** The runs on the page. */
  runs: readonly Run[]
  selection: Selection
  onSelect: (selection: Selection) => void
}): ReactNode {
  const [action, setAction] = useState<'retry' | 'cancel'>()
  const { why } = useMay('operate')
  const selected = runs.filter(({ id }) => selection.has(id))
  if (selected.length === 0) return null
  return (
    <div className={styles['bulk']}>
      <span>{words.selected(selected.length)}</span>
      <Button why={why} onClick={() => setAction('retry')}>
        {words.bulk.retry}
      </Button>
      <Button why={why} onClick={() => setAction('cancel')}>
        {words.bulk.cancel}
      </Button>
      <Button tone="quiet" onClick={() => onSelect(noSelection)}>
        {words.clear}
      </Button>
      {action === undefined ? null : (
        <BulkDialog
          action={action}
          runs={selected}
          onClose={(isDone) => {
            setAction(undefined)
            if (isDone) onSelect(noSelection)
          }}
        />
      )}
    </div>
  )
}
