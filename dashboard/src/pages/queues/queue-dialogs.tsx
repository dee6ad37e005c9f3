import { useState, type ReactNode } from 'react'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { asHeld, holdOn } from '../../data/holds.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { UntilField } from '../../parts/forms/until-field.js'
import { useToast } from '../../parts/toast.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/queues.js'

const { dialogs } = words

/** Asks before a queue is paused. */
export function PauseQueueDialog({ name, onClose }: { name: string; onClose: () => void }): ReactNode {
  const toast = useToast()
  const [until, setUntil] = useState<string>()
  return (
    <ConfirmDialog
      title={dialogs.pauseTitle(name)}
      action={dialogs.pause}
      onClose={onClose}
      onConfirm={async (reason) => {
        const body = { reason, ...(until === undefined ? {} : { until }) }
        const { changed } = await api('POST /queues/{name}/pause', { path: { name }, body })
        if (!changed) toast({ text: dialogs.pausedAlready(name) })
        else {
          toast({
            text: dialogs.paused(name),
            undo: async () =>
              await api('POST /queues/{name}/resume', {
                path: { name },
                body: { reason: common.undoReason },
              }),
          })
        }
      }}
    >
      <p>{dialogs.pauseText}</p>
      <UntilField value={until} onChange={setUntil} />
    </ConfirmDialog>
  )
}

/** Asks before a queue is resumed. */
export function ResumeQueueDialog({
  name,
  ready,
  onClose,
}: {
  name: string
  ready: number
  onClose: () => void
}): ReactNode {
  const toast = useToast()
  return (
    <ConfirmDialog
      title={dialogs.resumeTitle(name)}
      action={dialogs.resume}
      onClose={onClose}
      onConfirm={async (reason) => {
        const hold = await holdOn(`queue:${name}`)
        await api('POST /queues/{name}/resume', { path: { name }, body: { reason } })
        toast({
          text: dialogs.resumed(name),
          undo: async () => await api('POST /queues/{name}/pause', { path: { name }, body: asHeld(hold) }),
        })
      }}
    >
      <p>{dialogs.resumeText(formatCount(ready))}</p>
    </ConfirmDialog>
  )
}
