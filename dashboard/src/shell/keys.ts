/**
 * Keys are registered where they are used, and the sheet lists what is registered now. Keys of one letter can be switched
 * off, because they disturb people who control a computer by voice.
 */
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { readSetting } from '../data/settings.js'

/** A key, or two one after the other, and what it does. */
export interface KeyBinding {
  /** Such as `j`, `R`, `?`, `Escape`, `g n`, or `mod+k` for ⌘K and Ctrl+K. */
  readonly keys: string
  /** What it does, for the sheet. */
  readonly label: string
  readonly act: () => void
  /** Whether it works on every page. */
  readonly isGlobal?: boolean
}

type Entry = { readonly current: readonly KeyBinding[] }

const entries = new Set<Entry>()
const listeners = new Set<() => void>()
let snapshot: readonly KeyBinding[] = []
let first = ''
let firstTimer: ReturnType<typeof setTimeout> | undefined

/** Binds keys as long as the component is there. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const entry = useRef(bindings)
  useEffect(() => {
    entry.current = bindings
  })
  const names = bindings.map(({ keys }) => keys).join()
  useEffect(() => {
    entries.add(entry)
    publish()
    return () => {
      entries.delete(entry)
      publish()
    }
  }, [names])
}

/** All keys that are bound now. */
export function useBoundKeys(): readonly KeyBinding[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => snapshot,
  )
}

/** Starts to listen to the keyboard; returns the function that stops it. */
export function listenToKeys(): () => void {
  addEventListener('keydown', onKeyDown)
  return () => removeEventListener('keydown', onKeyDown)
}

function publish(): void {
  snapshot = [...entries].flatMap(({ current }) => current)
  for (const listener of listeners) listener()
}

function onKeyDown(event: KeyboardEvent): void {
  const isModified = event.metaKey || event.ctrlKey
  if (event.defaultPrevented || event.altKey || event.isComposing) return
  if (!isModified && (isTyping(event.target) || readSetting('keys') === 'off')) return
  // Links and buttons handle Enter themselves.
  if ((event.key === 'Enter' || event.key === ' ') && isPressable(event.target)) return
  const key = isModified ? `mod+${event.key.toLowerCase()}` : event.key
  // The one bound last is the nearest to the reader.
  const found = find(first === '' ? key : `${first} ${key}`) ?? find(key)
  const isBegun = first === '' && snapshot.some(({ keys }) => keys.startsWith(`${key} `))
  first = found === undefined && isBegun ? key : ''
  clearTimeout(firstTimer)
  firstTimer = setTimeout(() => (first = ''), 1500)
  if (found === undefined) return
  event.preventDefault()
  found.act()
}

function find(keys: string): KeyBinding | undefined {
  // Behind a dialog nothing happens but what the dialog itself handles.
  if (document.querySelector('dialog[open]') !== null) return undefined
  return [...entries].flatMap(({ current }) => current).findLast((binding) => binding.keys === keys)
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}

function isPressable(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a, button, summary, [role="option"]') !== null
}
