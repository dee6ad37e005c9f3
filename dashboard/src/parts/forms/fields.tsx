import { useId, type ComponentProps, type ReactNode } from 'react'
import styles from './fields.module.css'

/** A text field with its label, a hint below it, and what is wrong with it. */
export function TextField({
  label,
  hint,
  error,
  isMono = false,
  ...rest
}: ComponentProps<'input'> & {
  label: string
  hint?: ReactNode
  error?: string | undefined
  isMono?: boolean
}): ReactNode {
  const id = useId()
  return (
    <div className={styles['field']}>
      <label htmlFor={id}>{label}</label>
      <input
        autoComplete="off"
        spellCheck={false}
        {...rest}
        id={id}
        className={styles['input']}
        data-mono={isMono}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={`${id}-hint`}
      />
      <Hint id={`${id}-hint`} error={error}>
        {hint}
      </Hint>
    </div>
  )
}

function Hint({
  id,
  error,
  children,
}: {
  id: string
  error: string | undefined
  children: ReactNode
}): ReactNode {
  if (error !== undefined) {
    return (
      <span id={id} className={styles['error']} role="alert">
        {error}
      </span>
    )
  }
  return (
    <span id={id} className="soft">
      {children}
    </span>
  )
}

/** One of few: a group of radio buttons with its label. */
export function ChoiceField<Value extends string>({
  label,
  value,
  choices,
  onChange,
  isStacked = false,
}: {
  label: string
  value: Value
  choices: readonly { readonly value: Value; readonly label: ReactNode }[]
  onChange: (value: Value) => void
  /** Whether each choice has a line of its own. */
  isStacked?: boolean
}): ReactNode {
  const name = useId()
  return (
    <fieldset className={styles['field']}>
      <legend>{label}</legend>
      <div className={styles['choices']} data-stacked={isStacked}>
        {choices.map((choice) => (
          <label key={choice.value} className={styles['choice']}>
            <input
              type="radio"
              name={name}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            <span>{choice.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** A list to choose from, with its label. */
export function SelectField<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string
  value: Value
  choices: readonly { readonly value: Value; readonly label: string }[]
  onChange: (value: Value) => void
}): ReactNode {
  const id = useId()
  return (
    <div className={styles['field']}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className={styles['input']}
        value={value}
        onChange={({ target }) => onChange(target.value as Value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </div>
  )
}
