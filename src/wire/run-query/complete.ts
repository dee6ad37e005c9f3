/** Completions at a position of a query, for a search field and for shells. */
import { labelPrefix, qualifierOf, qualifiers, type Qualifier } from './qualifiers.js'
import { splitTerms } from './terms.js'

/** The completions at a position, and the part of the text that each of them replaces. */
export interface Completion {
  readonly from: number
  readonly to: number
  readonly options: readonly CompletionOption[]
  /** Names of this kind are completions, too; the store knows them. */
  readonly names?: Qualifier['completes']
  /** The typed beginning of the name. */
  readonly typed: string
}

/** One completion. */
export interface CompletionOption {
  readonly text: string
  readonly help: string
}

/** The completions at the cursor. */
export function completeQuery(text: string, cursor: number): Completion {
  const { terms } = splitTerms(text.slice(0, cursor))
  const last = terms.at(-1)
  const isOpen = last !== undefined && last.to === cursor
  if (!isOpen) return { from: cursor, to: cursor, options: namesFrom(''), typed: '' }
  const typed = last.items.at(-1) ?? ''
  const from = Math.max(last.valueFrom, cursor - typed.length)
  if (last.name === undefined) return { from: last.from, to: cursor, options: namesFrom(typed), typed }
  const { choices = [], completes: names, help = '' } = qualifierOf(last.name) ?? {}
  const options = choices
    .filter((choice) => choice.startsWith(typed))
    .map((choice) => ({ text: choice, help }))
  return { from, to: cursor, options, typed, ...(names === undefined ? {} : { names }) }
}

function namesFrom(typed: string): CompletionOption[] {
  return [...qualifiers.map(({ name, help }) => ({ text: `${name}:`, help })), aLabel].filter(({ text }) =>
    text.startsWith(typed),
  )
}

const aLabel: CompletionOption = { text: labelPrefix, help: 'with this label' }
