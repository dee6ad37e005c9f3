import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ApiError } from '../../../../src/client/client.js'
import type { Operations, Trigger } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { triggerQuery } from '../../data/triggers.js'
import { useAfterPause } from '../../data/after-pause.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { Dialog } from '../../parts/dialog.js'
import { SelectField, TextField } from '../../parts/forms/fields.js'
import { Skeleton } from '../../parts/states.js'
import { useToast } from '../../parts/toast.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/edit-trigger.js'
import { EditPreview } from './edit-preview.js'
import { fieldsOf, optionsOf, sentOptions, type EditFields } from './edit-form.js'
import styles from './edit-dialog.module.css'

/** What a change would do. */
export type EditPlan = Operations['PATCH /triggers/{name}']['answer']

const dsts = ['vixie', 'skip', 'real-time'] as const
const afters = ['grid', 'finish'] as const
const overlaps = ['skip', 'queue-one', 'queue-all', 'allow', 'cancel-running', 'terminate-running'] as const
const catchUps = ['latest', 'all', 'skip'] as const

interface Props {
  readonly trigger: Trigger
  readonly onClose: () => void
}

/** Changes a trigger. It is read again first: an edit begins with what is there now. */
export function EditDialog({ trigger: { name }, onClose }: Props): ReactNode {
  const { data, isFetchedAfterMount } = useQuery({ ...triggerQuery(name), refetchOnMount: 'always' })
  if (data !== undefined && isFetchedAfterMount) return <EditForm trigger={data} onClose={onClose} />
  return (
    <Dialog title={words.title(name)} onClose={onClose}>
      <Skeleton />
    </Dialog>
  )
}

/** The form. While the reader types, it shows the next instants and those that appear and vanish. */
function EditForm({ trigger, onClose }: Props): ReactNode {
  const toast = useToast()
  const client = useQueryClient()
  const { name } = trigger
  // The version that the reader saw first: a change by somebody else in between must be reported, not overwritten.
  const [seen] = useState(trigger)
  const before = fieldsOf(seen)
  const [fields, setFields] = useState<EditFields>(before)
  const changed = optionsOf(before, fields)
  const options = sentOptions(changed, seen)
  const asked = useAfterPause(JSON.stringify(options), 250)
  const isChanged = Object.keys(options).length > 0
  const plan = useQuery({
    queryKey: ['edit-plan', name, asked],
    queryFn: ({ signal }) =>
      api('PATCH /triggers/{name}', {
        path: { name },
        body: { options: JSON.parse(asked) as Record<string, unknown>, dryRun: true, days: 366 },
        signal,
      }),
    enabled: asked !== '{}',
    retry: false,
    placeholderData: keepPreviousData,
    meta: { isFixed: true },
  })
  const save = async (reason: string): Promise<void> => {
    try {
      await api('PATCH /triggers/{name}', {
        path: { name },
        body: { options, reason, days: 30 },
        headers: { 'if-match': `"${tagOf(seen)}"` },
      })
    } catch (error) {
      throw error instanceof ApiError && error.status === 412 ? stale(error) : error
    }
    await client.invalidateQueries({ queryKey: triggerQuery(name).queryKey })
    const undone = sentOptions(undoOf(before, changed), seen)
    const undo = async (): Promise<unknown> =>
      await api('PATCH /triggers/{name}', {
        path: { name },
        body: { options: undone, reason: common.undoReason },
      })
    toast({ text: words.saved(name), undo })
  }
  const set =
    (key: keyof EditFields) =>
    (value: string): void =>
      setFields({ ...fields, [key]: value })
  const fault = plan.error instanceof ApiError ? plan.error.message : undefined
  return (
    <ConfirmDialog
      title={words.title(name)}
      action={words.action}
      isReady={isChanged && fault === undefined}
      onClose={onClose}
      onConfirm={save}
    >
      <div className={styles['fields']}>
        {before.cron === '' ? null : (
          <>
            <TextField
              label={words.fields.cron}
              value={fields.cron}
              required
              maxLength={256}
              isMono
              error={fault}
              onChange={({ target }) => set('cron')(target.value)}
            />
            <TextField
              label={words.fields.timezone}
              value={fields.timezone}
              required
              maxLength={100}
              list="zones"
              onChange={({ target }) => set('timezone')(target.value)}
            />
            <Zones />
            <SelectField
              label={words.fields.dst}
              value={fields.dst === '' ? 'vixie' : fields.dst}
              choices={dsts.map((value) => ({ value, label: words.dsts[value] }))}
              onChange={set('dst')}
            />
          </>
        )}
        {before.every === '' ? null : (
          <TextField
            label={words.fields.every}
            value={fields.every}
            required
            maxLength={32}
            isMono
            error={before.cron === '' ? fault : undefined}
            hint={words.everyHint}
            onChange={({ target }) => set('every')(target.value)}
          />
        )}
        {before.after === '' ? null : (
          <SelectField
            label={words.fields.after}
            value={fields.after}
            choices={afters.map((value) => ({ value, label: words.afters[value] }))}
            onChange={set('after')}
          />
        )}
        <SelectField
          label={words.fields.overlap}
          value={fields.overlap}
          choices={overlaps.map((value) => ({ value, label: value }))}
          onChange={set('overlap')}
        />
        <SelectField
          label={words.fields.catchUp}
          value={fields.catchUp}
          choices={catchUps.map((value) => ({ value, label: value }))}
          onChange={set('catchUp')}
        />
      </div>
      <div className={styles['preview']} aria-live="polite" data-old={plan.isFetching}>
        {!isChanged ? (
          <p className="soft">{words.unchanged}</p>
        ) : plan.data === undefined || fault !== undefined ? null : (
          <EditPreview plan={plan.data} fields={fields} />
        )}
      </div>
    </ConfirmDialog>
  )
}

/** What the server compares: it changes with the definition. */
function tagOf(trigger: Trigger): string {
  return typeof trigger['tag'] === 'string' ? trigger['tag'] : String(trigger.revision)
}

function Zones(): ReactNode {
  return (
    <datalist id="zones">
      {Intl.supportedValuesOf('timeZone').map((zone) => (
        <option key={zone} value={zone} />
      ))}
    </datalist>
  )
}

function stale({ status, code }: ApiError): ApiError {
  return new ApiError({ detail: words.stale, code, todo: words.staleTodo }, status)
}

/** The options that bring back what a change replaced. */
function undoOf(before: EditFields, options: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(options).map((key) => [key, before[key as keyof EditFields]]))
}
