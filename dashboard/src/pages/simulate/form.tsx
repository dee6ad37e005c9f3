import type { ReactNode } from 'react'
import { useMay } from '../../data/session.js'
import { Button } from '../../parts/button.js'
import { TextField } from '../../parts/forms/fields.js'
import { Panel } from '../../parts/panel.js'
import { useKeys } from '../../shell/keys.js'
import { words } from '../../words/planning/simulate.js'
import styles from './page.module.css'
import { boundsOf, isValid, settingNames, type Settings } from './simulation.js'

const { form } = words
const hints: Readonly<Partial<Record<keyof Settings, string>>> = {
  crash: form.crashHint,
  seed: form.seedHint,
}

/** What to simulate, and the button that starts it or stops it. */
export function SettingsForm({
  settings,
  onChange,
  isBusy,
  isDone,
  onStart,
  onCancel,
}: {
  settings: Settings
  onChange: (settings: Settings) => void
  isBusy: boolean
  isDone: boolean
  onStart: () => void
  onCancel: () => void
}): ReactNode {
  const { why } = useMay('operate', { isChange: false })
  const isReady = settingNames.every((name) => isValid(name, settings[name]))
  const act = (): void => {
    if (isBusy) onCancel()
    else if (isReady && why === undefined) onStart()
  }
  useKeys([{ keys: 's', label: form.key, act }])
  return (
    <Panel title={form.title} padded>
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) act()
        }}
      >
        {settingNames.map((name) => (
          <TextField
            key={name}
            label={form[name]}
            hint={hints[name]}
            error={isValid(name, settings[name]) ? undefined : allowed(name)}
            value={settings[name]}
            maxLength={32}
            inputMode={boundsOf(name) === undefined ? 'text' : 'numeric'}
            onChange={({ target }) => onChange({ ...settings, [name]: target.value.trim() })}
          />
        ))}
        <div className={styles['actions']}>
          {/* Two buttons: one that became the other during a click would also submit the form. */}
          {isBusy ? (
            <Button key="cancel" onClick={onCancel}>
              {form.cancel}
            </Button>
          ) : (
            <Button key="start" type="submit" tone="main" why={why} disabled={!isReady}>
              {isDone ? form.again : form.start}
            </Button>
          )}
        </div>
      </form>
    </Panel>
  )
}

function allowed(name: keyof Settings): string {
  const bounds = boundsOf(name)
  return bounds === undefined ? form.span : form.whole(...bounds)
}
