import { useState, type ReactNode } from 'react'
import type { Hold } from '../../../src/client/operations.js'
import { api } from '../data/api.js'
import { asHeld } from '../data/holds.js'
import { words } from '../words/shell.js'
import { ConfirmDialog } from './confirm-dialog.js'
import { ChoiceField } from './forms/fields.js'
import { useToast } from './toast.js'

/** Asks before everything runs again, and whether to catch up; its undo freezes as before. */
export function ThawDialog({ freeze, onClose }: { freeze: Hold; onClose: () => void }): ReactNode {
  const toast = useToast()
  const [choice, setChoice] = useState<'skip' | 'catchUp'>('skip')
  return (
    <ConfirmDialog
      title={words.freeze.thawTitle}
      action={words.freeze.thawAction}
      onClose={onClose}
      onConfirm={async (reason) => {
        await api('POST /thaw', { body: { reason, catchUp: choice === 'catchUp' } })
        toast({
          text: words.freeze.thawed,
          undo: async () => await api('POST /freeze', { body: asHeld(freeze) }),
        })
      }}
    >
      <p>{words.freeze.thawText}</p>
      <ChoiceField
        label={words.freeze.held}
        value={choice}
        isStacked
        choices={[
          { value: 'skip', label: words.freeze.skip },
          { value: 'catchUp', label: words.freeze.catchUp },
        ]}
        onChange={setChoice}
      />
    </ConfirmDialog>
  )
}
