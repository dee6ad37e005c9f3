import { useQuery } from '@tanstack/react-query'
import { useId, useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { Dialog } from '../parts/dialog.js'
import { pages } from '../pages/index.js'
import { api } from '../data/api.js'
import { words } from '../words/shell.js'
import styles from './palette.module.css'

interface Choice {
  readonly to: string
  readonly text: string
  readonly kind: string
}

/** Goes anywhere by typing: a page, a trigger, the runs of a job, or a run by the beginning of its id. */
export function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const id = useId()
  const [, go] = useLocation()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const choices = useChoices(text.trim())
  const open = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    onClose()
    go(choice.to)
  }
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') open(choices[at])
    if (move === undefined || choices.length === 0) return
    event.preventDefault()
    setAt((at + move + choices.length) % choices.length)
  }
  return (
    <Dialog title={words.palette.label} kind="top" onClose={onClose}>
      <input
        className={styles['input']}
        role="combobox"
        aria-label={words.palette.label}
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={choices.length > 0 ? `${id}-${at}` : undefined}
        placeholder={words.palette.label}
        value={text}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => {
          setText(target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={words.palette.label} className={styles['list']}>
        {choices.map((choice, index) => (
          // The keyboard is handled by the field, which keeps the focus.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={choice.to}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseMove={() => setAt(index)}
            onClick={() => open(choice)}
          >
            <span className="cut">{choice.text}</span>
            <span className="soft">{choice.kind}</span>
          </li>
        ))}
      </ul>
      {choices.length === 0 ? <p className={styles['nothing']}>{words.palette.nothing}</p> : null}
    </Dialog>
  )
}

function useChoices(text: string): readonly Choice[] {
  const isSearch = text.length > 0
  const { data: triggers, isPlaceholderData } = useQuery({
    queryKey: ['palette', 'triggers', text],
    queryFn: ({ signal }) => api('GET /triggers', { query: { search: text, limit: 8 }, signal }),
    enabled: isSearch && isListed('/triggers/:name'),
    placeholderData: (before) => before,
  })
  // A run is found by the beginning of its id.
  const isRunId = /^[0-9a-hjkmnp-tv-z]{4,36}$/i.test(text)
  const { data: run } = useQuery({
    queryKey: ['palette', 'run', text],
    queryFn: ({ signal }) => api('GET /runs/{id}', { path: { id: text }, signal }),
    enabled: isRunId && isListed('/runs/:id'),
    retry: false,
  })
  const lower = text.toLowerCase()
  // Of the answer to what was typed before, only what still fits: Enter must not open another one.
  const found = (isSearch ? (triggers?.items ?? []) : []).filter(
    ({ name }) => !isPlaceholderData || name.toLowerCase().includes(lower),
  )
  return [
    ...(run === undefined ? [] : [{ to: `/runs/${run.id}`, text: run.id, kind: words.palette.run }]),
    ...pages
      .filter(({ path, title }) => !path.includes(':') && title.toLowerCase().includes(lower))
      .map(({ path, title }) => ({ to: path, text: title, kind: words.palette.page })),
    ...found.map(({ name }) => ({
      to: `/triggers/${encodeURIComponent(name)}`,
      text: name,
      kind: words.palette.trigger,
    })),
  ].slice(0, 20)
}

function isListed(path: string): boolean {
  return pages.some((page) => page.path === path)
}
