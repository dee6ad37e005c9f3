import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Token } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { printable } from '../../data/printable.js'
import type { Role } from '../../data/session.js'
import { Button } from '../../parts/button.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { CopyButton } from '../../parts/copy-button.js'
import { Dialog } from '../../parts/dialog.js'
import { ChoiceField, SelectField, TextField } from '../../parts/forms/fields.js'
import { useToast } from '../../parts/toast.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/settings.js'
import styles from './page.module.css'

const roles: readonly Role[] = ['read', 'operate', 'admin']
const expiries = ['', '1', '30', '90', '365'] as const
const dayMs = 86_400_000
const { tokens } = words

/** A token that was just made: its secret is known now, and never again. */
export interface MadeToken {
  readonly name: string
  readonly secret: string
}

/** Shows the secret of a new token, once. */
export function SecretDialog({
  made: { name, secret },
  onClose,
}: {
  made: MadeToken
  onClose: () => void
}): ReactNode {
  return (
    <Dialog title={tokens.made(printable(name))} onClose={onClose}>
      <div className={styles['dialog']}>
        <p>{tokens.once}</p>
        <div className={styles['secret']}>
          <code>{secret}</code>
          <CopyButton text={secret} />
        </div>
        <div className={styles['foot']}>
          <Button tone="main" onClick={onClose}>
            {common.close}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

/** Asks for what a new token needs, and makes it. */
export function CreateTokenDialog({
  onMade,
  onClose,
}: {
  onMade: (made: MadeToken) => void
  onClose: () => void
}): ReactNode {
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('read')
  const [expires, setExpires] = useState<(typeof expiries)[number]>('90')
  return (
    <ConfirmDialog
      title={tokens.makeTitle}
      action={tokens.makeAction}
      onClose={onClose}
      onConfirm={async (reason) => {
        const until = new Date(Date.now() + Number(expires) * dayMs).toISOString()
        const body = { name: name.trim(), role, reason, ...(expires === '' ? {} : { expires: until }) }
        const { token: secret } = await api('POST /tokens', { body })
        onMade({ name: body.name, secret: secret ?? '' })
        await client.invalidateQueries({ queryKey: ['tokens'] })
      }}
    >
      <TextField
        label={tokens.fields.name}
        hint={tokens.nameHint}
        value={name}
        required
        maxLength={128}
        onChange={({ target }) => setName(target.value)}
      />
      <ChoiceField
        label={tokens.fields.role}
        value={role}
        isStacked
        choices={roles.map((one) => ({ value: one, label: tokens.roles[one] }))}
        onChange={setRole}
      />
      <SelectField
        label={tokens.fields.expires}
        value={expires}
        choices={expiries.map((one) => ({ value: one, label: tokens.expiries[one] }))}
        onChange={setExpires}
      />
    </ConfirmDialog>
  )
}

/** Asks before a token is revoked. */
export function RevokeTokenDialog({
  token: { id, name },
  onClose,
}: {
  token: Token
  onClose: () => void
}): ReactNode {
  const toast = useToast()
  const client = useQueryClient()
  return (
    <ConfirmDialog
      title={tokens.revokeTitle(printable(name))}
      action={tokens.revokeAction}
      tone="danger"
      onClose={onClose}
      onConfirm={async (reason) => {
        await api('DELETE /tokens/{id}', { path: { id }, body: { reason } })
        await client.invalidateQueries({ queryKey: ['tokens'] })
        toast({ text: tokens.revoked(printable(name)) })
      }}
    >
      <p>{tokens.revokeText}</p>
    </ConfirmDialog>
  )
}
