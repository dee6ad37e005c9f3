import { useState, type ReactNode } from 'react'
import { api } from '../../data/api.js'
import { asHeld } from '../../data/holds.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { UntilField } from '../../parts/forms/until-field.js'
import { useToast } from '../../parts/toast.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/settings.js'
import type { Switch } from './switches.js'

interface Props {
  readonly onClose: () => void
}

/** Asks before everything is frozen. */
export function FreezeDialog({ onClose }: Props): ReactNode {
  const toast = useToast()
  const [until, setUntil] = useState<string>()
  return (
    <ConfirmDialog
      title={words.freeze.title}
      action={words.freeze.action}
      tone="danger"
      onClose={onClose}
      onConfirm={async (reason) => {
        await api('POST /freeze', { body: { reason, ...(until === undefined ? {} : { until }) } })
        toast({
          text: words.freeze.done,
          undo: async () => await api('POST /thaw', { body: { catchUp: true, reason: common.undoReason } }),
        })
      }}
    >
      <p>{words.freeze.text}</p>
      <UntilField value={until} onChange={setUntil} />
    </ConfirmDialog>
  )
}

/** Asks before a kill switch is turned. */
export function SwitchDialog({ one: { name, isOn, hold }, onClose }: Props & { one: Switch }): ReactNode {
  const toast = useToast()
  const [until, setUntil] = useState<string>()
  const turn = async (next: boolean, body: { reason?: string; until?: string }): Promise<unknown> =>
    await api('POST /switches/{name}', { path: { name }, body: { ...body, isOn: next } })
  return (
    <ConfirmDialog
      title={words.switchTitle(words.switches[name].name, !isOn)}
      action={isOn ? words.offAction : words.onAction}
      tone={isOn ? 'danger' : 'main'}
      onClose={onClose}
      onConfirm={async (reason) => {
        await turn(!isOn, { reason, ...(until === undefined || !isOn ? {} : { until }) })
        toast({
          text: words.switched(words.switches[name].name, !isOn),
          undo: () => turn(isOn, asHeld(hold)),
        })
      }}
    >
      <p>{isOn ? words.switches[name].off : words.switches[name].on}</p>
      {isOn ? <UntilField value={until} onChange={setUntil} /> : null}
    </ConfirmDialog>
  )
}
