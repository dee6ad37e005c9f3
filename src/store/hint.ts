/**
 * What a commit means for other processes. `taken`: runs were recorded and claimed at once, so nobody has anything to do,
 * but whoever shows runs has something new. `runs`: runs may be claimable. `anything`: everybody looks.
 */
export type News = 'taken' | 'runs' | 'anything'

const ranks: Readonly<Record<News, number>> = { taken: 0, runs: 1, anything: 2 }

/** What two commits mean together. */
export function joinNews(one: News | undefined, other: News): News {
  return one !== undefined && ranks[one] > ranks[other] ? one : other
}

/** What a text says, also one of another version. */
export function newsOf(text: string | undefined): News {
  return text === 'runs' || text === 'taken' ? text : 'anything'
}

/** Receives a hint; without news, it may be about anything. */
export type Hint = (news?: News) => void
