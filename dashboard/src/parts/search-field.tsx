import { useEffect, useId, useRef, useState, type ReactNode, type RefObject } from 'react'
import { useKeys } from '../shell/keys.js'
import { words } from '../words/common.js'
import type { Completions } from './qualifiers.js'
import styles from './search-field.module.css'

/** A part of a filter that could not be read. */
export interface WrongPart {
  readonly from: number
  readonly to: number
}

const mostCompletions = 12

/** One text field with qualifiers, such as `state:failed job:mail`. It completes their names and values. */
export function SearchField({
  value,
  onChange,
  label,
  hint,
  completions: { from, to, options },
  onWrite,
  error,
  wrong = [],
}: {
  value: string
  /** Called with the whole text when the reader has finished: Enter, a completion, or leaving the field. */
  onChange: (text: string) => void
  label: string
  /** The text in the empty field. */
  hint: string
  /** What fits where the cursor is. */
  completions: Completions
  /** Told what is written, and where the cursor is. */
  onWrite: (text: string, cursor: number) => void
  /** What is wrong with the filter; the field stays usable. */
  error?: string | undefined
  /** Where it is wrong: these parts are underlined. */
  wrong?: readonly WrongPart[]
}): ReactNode {
  const id = useId()
  const ref = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(value)
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const completions = isOpen ? options.slice(0, mostCompletions) : []
  const isShown = error !== undefined && text.trim() === value
  useEffect(() => setText(value), [value])
  useKeys([{ keys: '/', label, act: () => ref.current?.focus() }])

  const finish = (next: string): void => {
    setText(next)
    setOpen(false)
    if (next.trim() !== value) onChange(next.trim())
  }
  const choose = (completion: string): void => {
    const before = text.slice(0, from) + completion
    const rest = text.slice(to)
    const isName = completion.endsWith(':') || completion.endsWith('.')
    setAt(-1)
    onWrite(before + rest, before.length)
    if (isName) setText(before + rest)
    else finish(rest === '' ? `${before} ` : before + rest)
    const field = ref.current
    field?.focus()
    requestAnimationFrame(() => field?.setSelectionRange(before.length, before.length))
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
        aria-invalid={isShown ? true : undefined}
        aria-errormessage={isShown ? `${id}-error` : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={1000}
        placeholder={hint}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          onWrite(target.value, target.selectionStart ?? target.value.length)
          setOpen(true)
          setAt(-1)
        }}
        onSelect={({ currentTarget }) => onWrite(currentTarget.value, currentTarget.selectionStart ?? 0)}
        onFocus={() => {
          setOpen(true)
          onWrite(text, text.length)
        }}
        onBlur={() => finish(text)}
        onKeyDown={onKeyDown}
      />
      {isShown && wrong.length > 0 ? <Underlined text={text} wrong={wrong} field={ref} /> : null}
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
      {!isShown ? null : (
        <p id={`${id}-error`} className={styles['error']} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

/** The text of the field once more, invisible but for the lines under its wrong parts. It scrolls with the field. */
function Underlined({
  text,
  wrong,
  field,
}: {
  text: string
  wrong: readonly WrongPart[]
  field: RefObject<HTMLInputElement | null>
}): ReactNode {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const input = field.current
    const follow = (): void => {
      if (ref.current !== null && input !== null) ref.current.scrollLeft = input.scrollLeft
    }
    follow()
    input?.addEventListener('scroll', follow)
    return () => input?.removeEventListener('scroll', follow)
  }, [field, text])
  const parts: ReactNode[] = []
  let end = 0
  for (const { from, to } of wrong.toSorted((one, other) => one.from - other.from)) {
    // A missing value has no length: the character before it is marked.
    const first = Math.max(end, Math.min(from, to - 1))
    parts.push(text.slice(end, first), <u key={first}>{text.slice(first, Math.max(first, to))}</u>)
    end = Math.max(first, to)
  }
  return (
    <div ref={ref} className={styles['underlined']} aria-hidden="true">
      {parts}
      {text.slice(end)}
    </div>
  )
}
