import { useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { useKeys } from '../shell/keys.js'
import { words } from '../words/common.js'
import { completionsOf, type Qualifier } from './qualifiers.js'
import styles from './search-field.module.css'

/** One text field with qualifiers, such as `state:failed job:mail`. It completes their names and values. */
export function SearchField({
  value,
  onChange,
  label,
  hint,
  qualifiers,
  error,
}: {
  value: string
  /** Called with the whole text when the reader has finished: Enter, a completion, or leaving the field. */
  onChange: (text: string) => void
  label: string
  /** The text in the empty field. */
  hint: string
  qualifiers: readonly Qualifier[]
  /** What is wrong with the filter; the field stays usable. */
  error?: string | undefined
}): ReactNode {
  const id = useId()
  const ref = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(value)
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const completions = isOpen ? completionsOf(text, qualifiers) : []
  useEffect(() => setText(value), [value])
  useKeys([{ keys: '/', label, act: () => ref.current?.focus() }])

  const finish = (next: string): void => {
    setText(next)
    setOpen(false)
    if (next.trim() !== value) onChange(next.trim())
  }
  const choose = (completion: string): void => {
    const next = text.replace(/\S*$/, completion)
    setAt(-1)
    if (completion.endsWith(':')) setText(next)
    else finish(`${next} `)
    ref.current?.focus()
  }
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move !== undefined && completions.length > 0) {
      event.preventDefault()
      setAt((index) => (index + move + completions.length) % completions.length)
    } else if (event.key === 'Enter' || (event.key === 'Tab' && at >= 0)) {
      const chosen = completions[at]
      if (event.key === 'Tab') event.preventDefault()
      if (chosen === undefined) finish(text)
      else choose(chosen.text)
    } else if (event.key === 'Escape' && isOpen) {
      event.stopPropagation()
      setOpen(false)
      setAt(-1)
    }
  }

  return (
    <div className={styles['search']}>
      <input
        ref={ref}
        className={styles['input']}
        type="text"
        role="combobox"
        aria-label={label}
        aria-expanded={completions.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        aria-invalid={error === undefined ? undefined : true}
        aria-errormessage={error === undefined ? undefined : `${id}-error`}
        autoComplete="off"
        spellCheck={false}
        maxLength={1000}
        placeholder={hint}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setOpen(true)
          setAt(-1)
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => finish(text)}
        onKeyDown={onKeyDown}
      />
      <ul
        id={`${id}-list`}
        role="listbox"
        aria-label={words.suggestions}
        className={styles['list']}
        hidden={completions.length === 0}
      >
        {completions.map((completion, index) => (
          // The keyboard is handled by the field, which keeps the focus.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={completion.text}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(completion.text)}
          >
            <code>{completion.text}</code>
            <span className="soft">{completion.about}</span>
          </li>
        ))}
      </ul>
      {error === undefined ? null : (
        <p id={`${id}-error`} className={styles['error']} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}
