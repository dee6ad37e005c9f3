import { QueryClient, type Query } from '@tanstack/react-query'
import { ApiError } from '../../../src/client/client.js'
import type { Topic } from './live.js'

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /** What must change in the store for the answer to be read again; without it: anything. */
      readonly topics?: readonly Topic[]
      /** Whether the answer can never change. */
      readonly isFixed?: boolean
    }
  }
}

/** How often changed answers are read again at most. */
const settleMs = 400

/** The cache of all answers. Only the stream invalidates them, never a timer. */
export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 5 * 60_000,
        retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
        retryDelay: 500,
        refetchOnReconnect: true,
        refetchOnWindowFocus: false,
      },
      mutations: { retry: false },
    },
  })
}

/** Reads answers again when their topics change: at most every 400 ms, never in a hidden tab, and never twice at a time. */
export class Refresher {
  readonly #client: QueryClient
  readonly #topics = new Set<Topic>()
  /** Queries whose read began before the change: they are read once more. */
  readonly #late = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #lastAt = 0

  constructor(client: QueryClient) {
    this.#client = client
    document.addEventListener('visibilitychange', () => this.#plan())
  }

  /** Takes in what changed. */
  add(topics: readonly Topic[]): void {
    for (const topic of topics) this.#topics.add(topic)
    this.#plan()
  }

  #plan(): void {
    const isNeeded = this.#topics.size > 0 || this.#late.size > 0
    if (!isNeeded || this.#timer !== undefined || document.visibilityState !== 'visible') return
    const waitMs = Math.max(0, this.#lastAt + settleMs - performance.now())
    this.#timer = setTimeout(() => this.#flush(), waitMs)
  }

  #flush(): void {
    this.#timer = undefined
    this.#lastAt = performance.now()
    const concerned = this.#client
      .getQueryCache()
      .findAll({ predicate: (query) => this.#late.has(query.queryHash) || concerns(query, this.#topics) })
    this.#topics.clear()
    this.#late.clear()
    const idle = new Set<string>()
    for (const { queryHash, state } of concerned) {
      if (state.fetchStatus === 'fetching') this.#late.add(queryHash)
      else idle.add(queryHash)
    }
    void this.#client.invalidateQueries({ predicate: ({ queryHash }) => idle.has(queryHash) })
    this.#plan()
  }
}

function concerns({ meta }: Query, topics: ReadonlySet<Topic>): boolean {
  if (meta?.isFixed === true) return false
  return topics.has('reset') || meta?.topics === undefined || meta.topics.some((topic) => topics.has(topic))
}
