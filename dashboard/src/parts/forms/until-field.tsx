import { useState, type ReactNode } from 'react'
import { words } from '../../words/forms.js'
import { Time } from '../time.js'
import { ChoiceField, TextField } from './fields.js'

const hourMs = 3_600_000
const choices = ['open', 'hour', 'four', 'day', 'other'] as const
type Choice = (typeof choices)[number]
const lengths: Readonly<Partial<Record<Choice, number>>> = {
  hour: hourMs,
  four: 4 * hourMs,
  day: 24 * hourMs,
}

/** Until when something is held back: until somebody ends it, for a while, or until a time. */
export function UntilField({
  value,
  onChange,
}: {
  /** ISO text; undefined: until somebody ends it. */
  value: string | undefined
  onChange: (until: string | undefined) => void
}): ReactNode {
  const [choice, setChoice] = useState<Choice>('open')
  const choose = (next: Choice): void => {
    setChoice(next)
    const lengthMs = lengths[next]
    onChange(lengthMs === undefined ? undefined : new Date(Date.now() + lengthMs).toISOString())
  }
  return (
    <>
      <ChoiceField
        label={words.until.label}
        value={choice}
        choices={choices.map((one) => ({ value: one, label: words.until[one] }))}
        onChange={choose}
      />
      {choice === 'other' ? (
        <TextField
          label={words.until.at}
          type="datetime-local"
          required
          hint={words.until.zone(Intl.DateTimeFormat().resolvedOptions().timeZone)}
          onChange={({ target }) =>
            onChange(target.value === '' ? undefined : new Date(target.value).toISOString())
          }
        />
      ) : null}
      {value === undefined ? null : (
        <p className="soft">
          {words.until.ends} <Time at={value} withOffset />
        </p>
      )}
    </>
  )
}
