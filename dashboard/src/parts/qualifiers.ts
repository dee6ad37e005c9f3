/** Completion of filters as text, such as `state:failed job:mail`. */

import { useState } from 'react'

/** A qualifier that a search field completes. */
export interface Qualifier {
  readonly name: string
  readonly about: string
  /** Its values, where there are few. */
  readonly values?: readonly string[]
}

/** A text that fits, and what it means. */
export interface Completion {
  readonly text: string
  readonly about: string
}

/** The texts that fit at a place of a filter, and the part of it that each of them replaces. */
export interface Completions {
  readonly from: number
  readonly to: number
  readonly options: readonly Completion[]
}

/** A search field with these qualifiers completes the word before the cursor. */
export function useQualifiers(qualifiers: readonly Qualifier[]): {
  readonly completions: Completions
  readonly onWrite: (text: string, cursor: number) => void
} {
  const [{ text, cursor }, setPlace] = useState({ text: '', cursor: 0 })
  return {
    completions: completionsOf(qualifiers, text, cursor),
    onWrite: (written, at) => setPlace({ text: written, cursor: at }),
  }
}

function completionsOf(qualifiers: readonly Qualifier[], text: string, cursor: number): Completions {
  const word = /\S*$/.exec(text.slice(0, cursor))?.[0] ?? ''
  const at = word.indexOf(':')
  const [from, to] = [cursor - word.length, cursor]
  if (at < 0) {
    const options = qualifiers
      .filter(({ name }) => name.startsWith(word))
      .map(({ name, about }) => ({ text: `${name}:`, about }))
    return { from, to, options }
  }
  const found = qualifiers.find(({ name }) => name === word.slice(0, at))
  const begun = word.slice(at + 1)
  const options = (found?.values ?? [])
    .filter((value) => value.startsWith(begun) && value !== begun)
    .map((value) => ({ text: `${found?.name}:${value}`, about: '' }))
  return { from, to, options }
}
