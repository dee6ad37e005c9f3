import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ApiError } from '../../../../src/client/client.js'
import { api } from '../../data/api.js'
import { formatDuration } from '../../data/format.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { TextField } from '../../parts/forms/fields.js'
import { Time } from '../../parts/time.js'
import { useToast } from '../../parts/toast.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/rounds.js'

const { dialogs } = words

/** Sets how often a service runs, in all rounds; shows first when it would be due. */
export function TimingDialog({
  service,
  seconds,
  onClose,
}: {
  service: string
  seconds: number | undefined
  onClose: () => void
}): ReactNode {
  const toast = useToast()
  const client = useQueryClient()
  const [every, setEvery] = useState(seconds === undefined ? '' : `${seconds}s`)
  const path = { name: service }
  const { data: plan, error } = useQuery({
    queryKey: ['timing-plan', service, every],
    queryFn: ({ signal }) =>
      api('PUT /services/{name}/timing', { path, body: { every, dryRun: true }, signal }),
    enabled: every !== '',
    retry: false,
    placeholderData: (before) => before,
  })
  const set = async (value: string, reason: string): Promise<void> => {
    await api('PUT /services/{name}/timing', { path, body: { every: value, reason } })
    await client.invalidateQueries({ queryKey: ['services'] })
  }
  return (
    <ConfirmDialog
      title={dialogs.timingTitle(service)}
      action={dialogs.timing}
      onClose={onClose}
      onConfirm={async (reason) => {
        await set(every, reason)
        const text = dialogs.timed(service, every)
        toast(seconds === undefined ? { text } : { text, undo: () => set(`${seconds}s`, common.undoReason) })
      }}
    >
      <p>{dialogs.timingText}</p>
      <TextField
        label={dialogs.every}
        hint={dialogs.everyHint}
        value={every}
        required
        maxLength={32}
        isMono
        error={error instanceof ApiError ? error.message : undefined}
        onChange={({ target }) => setEvery(target.value)}
      />
      {plan === undefined || error !== null ? null : (
        <p>
          {dialogs.becomes(formatDuration(plan.intervalSeconds * 1000))}{' '}
          {plan.nextDueTimestamp === null ? null : (
            <>
              {dialogs.due} <Time at={new Date(plan.nextDueTimestamp * 1000).toISOString()} />
            </>
          )}
        </p>
      )}
    </ConfirmDialog>
  )
}
