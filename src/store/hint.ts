/** What a commit means for other processes: only that runs may be claimable, or anything. */
export type News = 'runs' | 'anything'

/** What two commits mean together. */
export function joinNews(one: News | undefined, other: News): News {
  return one === 'anything' ? one : other
}

/** Receives a hint; without news, it may be about anything. */
export type Hint = (news?: News) => void
