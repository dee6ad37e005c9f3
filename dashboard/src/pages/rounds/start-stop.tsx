import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../../data/api.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { useToast } from '../../parts/toast.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/rounds.js'

const { dialogs } = words

/** Asks before a stopped round starts again. */
export function StartDialog({ name, onClose }: { name: string; onClose: () => void }): ReactNode {
  const toast = useToast()
  return (
    <ConfirmDialog
      title={dialogs.startTitle(name)}
      action={dialogs.start}
      onClose={onClose}
      onConfirm={async (reason) => {
        const { warning } = await api('POST /rounds/{name}/start', { path: { name }, body: { reason } })
        toast({
          text: warning ?? dialogs.started(name),
          undo: async () =>
            await api('POST /rounds/{name}/stop', { path: { name }, body: { reason: common.undoReason } }),
        })
      }}
    >
      <p>{dialogs.startText}</p>
    </ConfirmDialog>
  )
}

/** Asks before a round stops after its current service; says how many services would be left. */
export function StopDialog({ name, onClose }: { name: string; onClose: () => void }): ReactNode {
  const toast = useToast()
  const { data: plan } = useQuery({
    queryKey: ['round-stop-plan', name],
    queryFn: ({ signal }) =>
      api('POST /rounds/{name}/stop', { path: { name }, body: { dryRun: true }, signal }),
    retry: false,
  })
  return (
    <ConfirmDialog
      title={dialogs.stopTitle(name)}
      action={dialogs.stop}
      tone="danger"
      onClose={onClose}
      onConfirm={async (reason) => {
        await api('POST /rounds/{name}/stop', { path: { name }, body: { reason } })
        toast({
          text: dialogs.stopped(name),
          undo: async () =>
            await api('POST /rounds/{name}/start', { path: { name }, body: { reason: common.undoReason } }),
        })
      }}
    >
      <p>{dialogs.stopText}</p>
      {plan === undefined ? null : <p>{dialogs.left(plan.left)}</p>}
    </ConfirmDialog>
  )
}
