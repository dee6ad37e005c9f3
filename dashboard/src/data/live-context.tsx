import { useQueryClient } from '@tanstack/react-query'
import { createContext, use, useEffect, useState, type ReactNode } from 'react'
import { listen, type LiveState } from './live.js'
import { Refresher } from './query-client.js'

/** How changes arrive, and since when. */
export interface Live {
  readonly state: LiveState
  /** When the page last heard from the server by the stream. */
  readonly lostAt: number | undefined
}

const Context = createContext<Live>({ state: 'connecting', lostAt: undefined })

/** Keeps every answer on the page up to date while it is shown. */
export function LiveProvider({ children }: { children: ReactNode }): ReactNode {
  const client = useQueryClient()
  const [live, setLive] = useState<Live>({ state: 'connecting', lostAt: undefined })
  useEffect(() => {
    const refresher = new Refresher(client)
    return listen({
      onTopics: (topics) => refresher.add(topics),
      onState: (state) =>
        setLive(({ lostAt }) => ({ state, lostAt: state === 'lost' ? (lostAt ?? Date.now()) : undefined })),
    })
  }, [client])
  return <Context value={live}>{children}</Context>
}

/** How changes arrive. */
export function useLive(): Live {
  return use(Context)
}
