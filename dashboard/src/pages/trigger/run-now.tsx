import { useState, type ReactNode } from 'react'
import type { Trigger } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { TextField } from '../../parts/forms/fields.js'
import { useToast } from '../../parts/toast.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/trigger-changes.js'

/** Asks before the job of a trigger runs in addition to its schedule. */
export function RunNowDialog({ trigger, onClose }: { trigger: Trigger; onClose: () => void }): ReactNode {
  const toast = useToast()
  const { name, job } = trigger
  const [partition, setPartition] = useState('')
  const hasPartition = trigger['partition'] != null
  const run = async (reason: string): Promise<void> => {
    const body = { reason, ...(partition.trim() === '' ? {} : { partition: partition.trim() }) }
    const { id } = await api('POST /triggers/{name}/run', { path: { name }, body })
    toast({
      text: words.run.done(name),
      undo: async () =>
        await api('POST /runs/{id}/cancel', { path: { id }, body: { reason: common.undoReason } }),
    })
  }
  return (
    <ConfirmDialog title={words.run.title(name)} action={words.run.action} onClose={onClose} onConfirm={run}>
      <p>{words.run.text(job)}</p>
      {hasPartition ? (
        <TextField
          label={words.run.partition}
          hint={words.run.partitionHint}
          value={partition}
          maxLength={512}
          isMono
          onChange={({ target }) => setPartition(target.value)}
        />
      ) : null}
    </ConfirmDialog>
  )
}
