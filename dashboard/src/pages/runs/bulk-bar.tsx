import { useState, type ReactNode } from 'react'
import { formatCount } from '../../data/format.js'
import { useMay } from '../../data/session.js'
import { Button } from '../../parts/button.js'
import { words } from '../../words/runs.js'
import { BulkDialog, type BulkAction } from './bulk-dialog.js'
import styles from './page.module.css'
import { noSelection, type Selection } from './selection.js'

/** What can be done with the selected runs, and how to select those of the other pages too. */
export function BulkBar({
  ids,
  q,
  zone,
  total,
  selection,
  onSelect,
  onBegun,
}: {
  /** The runs on the page. */
  ids: readonly string[]
  q: string
  zone: string
  /** How many match the filter, as text. */
  total: string
  selection: Selection
  onSelect: (selection: Selection) => void
  /** Called with the id of the action that was begun. */
  onBegun: (bulk: string) => void
}): ReactNode {
  const [action, setAction] = useState<BulkAction>()
  const { why } = useMay('operate')
  const selected = selection === 'all' ? ids : ids.filter((id) => selection.has(id))
  if (selected.length === 0) return null
  const isWholePage = selection !== 'all' && selected.length === ids.length
  return (
    <div className={styles['bulk']} role="group" aria-label={words.selection}>
      <span>{selection === 'all' ? words.allSelected(total) : words.selected(selected.length)}</span>
      {isWholePage && total !== formatCount(ids.length) ? (
        <Button tone="quiet" why={q === '' ? words.filterFirst : undefined} onClick={() => onSelect('all')}>
          {words.selectMatching(total)}
        </Button>
      ) : null}
      {(['retry', 'cancel'] as const).map((one) => (
        <Button key={one} why={why} onClick={() => setAction(one)}>
          {words.bulk[one].button}
        </Button>
      ))}
      <Button tone="quiet" onClick={() => onSelect(noSelection)}>
        {words.clear}
      </Button>
      {action === undefined ? null : (
        <BulkDialog
          action={action}
          runs={selection === 'all' ? { filter: q, zone } : { ids: selected }}
          onClose={() => setAction(undefined)}
          onBegun={(bulk) => {
            onSelect(noSelection)
            onBegun(bulk)
          }}
        />
      )}
    </div>
  )
}
