import type { ReactNode } from 'react'
import { api } from '../../data/api.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { useToast } from '../../parts/toast.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/assets.js'

/** Asks before one partition is made now. */
export function MakeDialog({
  asset,
  partition,
  onClose,
}: {
  asset: string
  partition: string
  onClose: () => void
}): ReactNode {
  const toast = useToast()
  return (
    <ConfirmDialog
      title={words.make.title(asset, partition)}
      action={words.make.action}
      onClose={onClose}
      onConfirm={async (reason) => {
        const path = { name: asset }
        const { id } = await api('POST /assets/{name}/materialize', { path, body: { partition, reason } })
        toast({
          text: words.make.done(partition),
          undo: async () =>
            await api('POST /runs/{id}/cancel', { path: { id }, body: { reason: common.undoReason } }),
        })
      }}
    >
      <p>{words.make.text}</p>
    </ConfirmDialog>
  )
}
