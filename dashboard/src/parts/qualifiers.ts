/** Filters as text: `state:failed job:mail label.team:x`. The server reads them; here they are completed. */

/** A qualifier that a search field completes. */
export interface Qualifier {
  readonly name: string
  readonly about: string
  /** Its values, where there are few. */
  readonly values?: readonly string[]
}

/** A text that would complete the last word. */
export interface Completion {
  readonly text: string
  readonly about: string
}

const mostCompletions = 10

/** What could stand in the place of the last word of a filter. */
export function completionsOf(text: string, qualifiers: readonly Qualifier[]): readonly Completion[] {
  const word = /\S*$/.exec(text)?.[0] ?? ''
  const at = word.indexOf(':')
  if (at < 0) {
    return qualifiers
      .filter(({ name }) => name.startsWith(word))
      .map(({ name, about }) => ({ text: `${name}:`, about }))
      .slice(0, mostCompletions)
  }
  const found = qualifiers.find(({ name }) => name === word.slice(0, at))
  const begun = word.slice(at + 1)
  return (found?.values ?? [])
    .filter((value) => value.startsWith(begun) && value !== begun)
    .map((value) => ({ text: `${found?.name}:${value}`, about: '' }))
    .slice(0, mostCompletions)
}
