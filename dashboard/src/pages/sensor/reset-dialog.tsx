import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api } from '../../data/api.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { ChoiceField } from '../../parts/forms/fields.js'
import { useToast } from '../../parts/toast.js'
import { words } from '../../words/sensors.js'

const { reset } = words

/** Makes a sensor start again; says first how many keys would be forgotten. */
export function ResetDialog({ name, onClose }: { name: string; onClose: () => void }): ReactNode {
  const toast = useToast()
  const [choice, setChoice] = useState<'keep' | 'forget'>('keep')
  const forgetKeys = choice === 'forget'
  const { data: plan } = useQuery({
    queryKey: ['sensor', name, 'reset-plan', forgetKeys],
    queryFn: ({ signal }) =>
      api('POST /sensors/{name}/reset', { path: { name }, body: { forgetKeys, dryRun: true }, signal }),
    retry: false,
    meta: { isFixed: true },
  })
  return (
    <ConfirmDialog
      title={reset.title(name)}
      action={reset.action}
      tone="danger"
      onClose={onClose}
      onConfirm={async (reason) => {
        await api('POST /sensors/{name}/reset', { path: { name }, body: { forgetKeys, reason } })
        toast({ text: reset.done(name) })
      }}
    >
      <p>{reset.text}</p>
      <ChoiceField
        label={reset.keys}
        value={choice}
        isStacked
        choices={[
          { value: 'keep', label: reset.keep },
          { value: 'forget', label: reset.forget },
        ]}
        onChange={setChoice}
      />
      {plan?.forgotten == null ? null : <p>{reset.forgotten(plan.forgotten)}</p>}
      <p className="soft">{reset.noUndo}</p>
    </ConfirmDialog>
  )
}
