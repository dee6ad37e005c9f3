/** A filter as the reader writes it, such as `state:failed job:mail`, and as the API takes it. */
import type { Operations, Run } from '../../../../src/client/operations.js'
import { words } from '../../words/runs.js'

type Query = NonNullable<Operations['GET /runs']['request']['query']>

/** What a filter asks for, or what is wrong with it. */
export type Filter = { readonly query: Query } | { readonly fault: string }

const states: readonly Run['state'][] = ['pending', 'running', 'done', 'failed', 'cancelled']

/** Reads a filter. */
export function readFilter(text: string): Filter {
  let query: Query = {}
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const at = word.indexOf(':')
    const [name, value] = [word.slice(0, Math.max(0, at)), word.slice(at + 1)]
    const state = states.find((one) => one === value)
    if (name === 'state' && state !== undefined) query = { ...query, state }
    else if (name === 'state') return { fault: words.faults.state(value, states.join(', ')) }
    else if ((name === 'job' || name === 'trigger') && value !== '') query = { ...query, [name]: value }
    else return { fault: words.faults.word(word) }
  }
  return { query }
}
