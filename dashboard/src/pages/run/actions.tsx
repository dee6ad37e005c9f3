import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Run } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { go } from '../../data/location.js'
import { runQuery } from '../../data/runs.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { useToast } from '../../parts/toast.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/run.js'

interface Props {
  readonly run: Run
  readonly onClose: () => void
}

/** Asks before a run is retried. */
export function RetryDialog({ run: { id }, onClose }: Props): ReactNode {
  const toast = useToast()
  const client = useQueryClient()
  return (
    <ConfirmDialog
      title={words.actions.retryTitle}
      action={words.actions.retryAction}
      onClose={onClose}
      onConfirm={async (reason) => {
        client.setQueryData(
          runQuery(id).queryKey,
          await api('POST /runs/{id}/retry', { path: { id }, body: { reason } }),
        )
        toast({
          text: words.actions.retried,
          undo: async () =>
            await api('POST /runs/{id}/cancel', { path: { id }, body: { reason: common.undoReason } }),
        })
      }}
    >
      <p>{words.actions.retryText}</p>
    </ConfirmDialog>
  )
}

/** Asks before a run is cancelled. */
export function CancelDialog({ run: { id, state }, onClose }: Props): ReactNode {
  const toast = useToast()
  const client = useQueryClient()
  return (
    <ConfirmDialog
      title={words.actions.cancelTitle}
      action={words.actions.cancelAction}
      tone="danger"
      onClose={onClose}
      onConfirm={async (reason) => {
        const { run, requested } = await api('POST /runs/{id}/cancel', { path: { id }, body: { reason } })
        client.setQueryData(runQuery(id).queryKey, run)
        if (requested) toast({ text: words.actions.cancelRequested })
        else {
          const undo = async (): Promise<unknown> =>
            await api('POST /runs/{id}/retry', { path: { id }, body: { reason: common.undoReason } })
          toast({ text: words.actions.cancelled, undo })
        }
      }}
    >
      <p>{state === 'running' ? words.actions.cancelRunning : words.actions.cancelPending}</p>
    </ConfirmDialog>
  )
}

/** Asks before the same job is run again, and opens the new run. */
export function RunAgainDialog({ run, onClose }: Props): ReactNode {
  const toast = useToast()
  const { trigger, job, payload, partition } = run
  return (
    <ConfirmDialog
      title={words.actions.againTitle}
      action={words.actions.againAction}
      onClose={onClose}
      onConfirm={async (reason) => {
        const { id } =
          trigger === null
            ? await api('POST /runs', {
                body: { job, payload, reason, ...(partition === null ? {} : { partition }) },
              })
            : await api('POST /triggers/{name}/run', {
                path: { name: trigger },
                body: { reason, ...(partition === null ? {} : { partition }) },
              })
        toast({
          text: words.actions.againDone,
          undo: async () =>
            await api('POST /runs/{id}/cancel', { path: { id }, body: { reason: common.undoReason } }),
        })
        go(`/runs/${id}`)
      }}
    >
      <p>{words.actions.againText}</p>
    </ConfirmDialog>
  )
}
