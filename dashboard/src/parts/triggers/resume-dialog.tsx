import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Hold } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { asHeld, heldNow, holdQuery } from '../../data/holds.js'
import { triggerQuery } from '../../data/triggers.js'
import { words } from '../../words/trigger-changes.js'
import { ConfirmDialog } from '../confirm-dialog.js'
import { ChoiceField } from '../forms/fields.js'
import { StateMark } from '../state-mark.js'
import { Time, TimeSpan } from '../time.js'
import { useToast } from '../toast.js'
import { changeMany } from './change-many.js'
import styles from './dialogs.module.css'

/** Asks before triggers are resumed: shows the range that was held back, and whether to catch it up. */
export function ResumeDialog({
  names,
  onClose,
}: {
  names: readonly string[]
  onClose: () => void
}): ReactNode {
  const toast = useToast()
  const [catchUp, setCatchUp] = useState<'skip' | 'catchUp'>('skip')
  const [done, setDone] = useState(0)
  const [only] = names.length === 1 ? names : []
  const { data: trigger } = useQuery({ ...triggerQuery(only ?? ''), enabled: only !== undefined })
  const mode = (trigger?.['catchUp'] as { readonly mode?: string } | undefined)?.mode
  const resume = async (reason: string): Promise<void> => {
    const body = { reason, catchUp: catchUp === 'catchUp' }
    const held = await heldNow(names)
    const changed = await changeMany(
      names,
      (name) => api('POST /triggers/{name}/resume', { path: { name }, body }),
      setDone,
    )
    toast({ text: words.resume.done(changed), undo: () => pauseAgain(changed, held) })
  }
  return (
    <ConfirmDialog
      title={words.resume.title(names)}
      action={words.resume.action}
      onClose={onClose}
      onConfirm={resume}
    >
      {only === undefined ? null : <HeldRange name={only} />}
      <p>{words.resume.text}</p>
      <ChoiceField
        label={words.resume.choice}
        value={catchUp}
        isStacked
        choices={[
          { value: 'skip', label: words.resume.skip },
          { value: 'catchUp', label: words.resume.catchUp(mode) },
        ]}
        onChange={setCatchUp}
      />
      {done > 0 && names.length > 1 ? <p role="status">{words.progress(done, names.length)}</p> : null}
    </ConfirmDialog>
  )
}

/** Pauses triggers as they were paused before: with the same reason, and until the same time. */
async function pauseAgain(names: readonly string[], holds: readonly Hold[]): Promise<unknown> {
  return await changeMany(
    names,
    (name) => {
      const body = asHeld(holds.find(({ target }) => target === `trigger:${name}`))
      return api('POST /triggers/{name}/pause', { path: { name }, body })
    },
    () => undefined,
  )
}

function HeldRange({ name }: { name: string }): ReactNode {
  const { data: hold } = useQuery(holdQuery(`trigger:${name}`))
  const [now] = useState(() => new Date().toISOString())
  const from = hold?.fromAt
  const { data: why } = useQuery({
    queryKey: ['why', name, from, now],
    queryFn: ({ signal }) =>
      api('GET /why', { query: { trigger: name, from: from as string, until: now }, signal }),
    enabled: from !== undefined,
    meta: { isFixed: true },
    retry: false,
  })
  // The ledger gets the range when the hold ends; until then the explanation has it.
  const held = why?.explanations.flatMap((one) => (one.kind === 'held' ? [one] : [])) ?? []
  const [first, last] = [held[0]?.firstAt, held.at(-1)?.lastAt]
  if (hold == null) return null
  return (
    <div className={styles['held']}>
      <p>
        <StateMark mark="paused" label={words.resume.held(hold.by)} /> {words.resume.since}{' '}
        <Time at={hold.fromAt} />
      </p>
      {hold.note === '' ? null : <q>{hold.note}</q>}
      {why === undefined ? null : first === undefined || last === undefined ? (
        <p>{words.resume.nothing}</p>
      ) : (
        <p>
          {words.resume.range} <TimeSpan from={first} until={last} between={words.resume.to} />
        </p>
      )}
    </div>
  )
}
