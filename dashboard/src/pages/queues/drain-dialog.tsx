import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Worker } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { ChoiceField } from '../../parts/forms/fields.js'
import { useToast } from '../../parts/toast.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/queues.js'
import styles from './page.module.css'

const { dialogs } = words
const routes = {
  drain: 'POST /workers/{target}/drain',
  undrain: 'POST /workers/{target}/undrain',
} as const

/** Asks before a process, or all of its host, takes no more work or takes work again. Shows first what would change. */
export function DrainDialog({ worker, onClose }: { worker: Worker; onClose: () => void }): ReactNode {
  const toast = useToast()
  const client = useQueryClient()
  const { id, host, isDraining } = worker
  const [scope, setScope] = useState<'process' | 'host'>('process')
  const target = scope === 'process' ? id : host
  const [verb, opposite] = isDraining ? (['undrain', 'drain'] as const) : (['drain', 'undrain'] as const)
  const { data: plan } = useQuery({
    queryKey: ['drain-plan', verb, target],
    queryFn: ({ signal }) => api(routes[verb], { path: { target }, body: { dryRun: true }, signal }),
    retry: false,
  })
  const send = async (reason: string): Promise<readonly string[]> => {
    const { items } = await api(routes[verb], { path: { target }, body: { reason } })
    await client.invalidateQueries({ queryKey: ['workers'] })
    return items.flatMap(({ worker: one, outcome }) => (outcome === 'changed' ? [one.id] : []))
  }
  /** Only the processes that the change reached: others were so before. */
  const takeBack = async (changed: readonly string[]): Promise<void> => {
    for (const one of changed)
      await api(routes[opposite], { path: { target: one }, body: { reason: common.undoReason } })
    await client.invalidateQueries({ queryKey: ['workers'] })
  }
  return (
    <ConfirmDialog
      title={dialogs.drainTitle[verb](id)}
      action={dialogs.drainAction[verb]}
      onClose={onClose}
      onConfirm={async (reason) => {
        const changed = await send(reason)
        const text = dialogs.drained[verb](target)
        toast(changed.length === 0 ? { text } : { text, undo: () => takeBack(changed) })
      }}
    >
      <p>{dialogs.drainText[verb]}</p>
      <ChoiceField
        label={dialogs.scope}
        value={scope}
        choices={[
          { value: 'process', label: dialogs.process },
          { value: 'host', label: dialogs.host(host) },
        ]}
        onChange={setScope}
      />
      <ul className={styles['plan']}>
        {plan?.items.map(({ worker: one, outcome }) => (
          <li key={one.id}>
            <code>{one.id}</code>
            <span className="soft">{dialogs.outcomes[outcome]}</span>
          </li>
        ))}
      </ul>
    </ConfirmDialog>
  )
}
