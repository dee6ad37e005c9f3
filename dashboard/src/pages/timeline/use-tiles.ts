import { useQueries, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import type { Trigger } from '../../../../src/client/operations.js'
import type { Timeline } from '../../../../src/client/ui-operations.js'
import { api } from '../../data/api.js'
import type { Topic } from '../../data/live.js'
import type { View } from './axis/view.js'
import { keepTile, keptTile } from './kept-tiles.js'
import { lanesOf, type LaneData, type Piece } from './lane/lane-data.js'
import { lifeOf, tilesOf, type Tile, type TileLife } from './tiles.js'
import { waitUntil } from './wait.js'

/**
 * Failed runs may be retried, and future due times may change with their definition: such pieces are read again, but not
 * more often than this.
 */
const slowMs = 15_000

/** What is known of the lanes, and of what is read now. */
export interface Tiles {
  readonly lanes: ReadonlyMap<string, LaneData>
  readonly isLoading: boolean
  readonly error: Error | null
  readonly retry: () => void
}

/** Reads the pieces of a stretch for pages of lanes; those that are closed are read once. */
export function useTiles(view: View, pages: readonly (readonly Trigger[])[]): Tiles {
  const client = useQueryClient()
  const tiles = useStable(tilesOf(view))
  const stablePages = useStableRefs(pages)
  const wanted = useMemo(
    () => stablePages.flatMap((page) => tiles.map((tile) => ({ names: namesOf(page), tile }))),
    [stablePages, tiles],
  )
  const answers = useQueries({
    queries: wanted.map(({ names, tile }) => {
      const queryKey = ['timeline', tile.fromMs, tile.untilMs, names.join('\n')]
      const known = client.getQueryData<Timeline>(queryKey)
      const life = known === undefined ? 'open' : knownLife(tile, known)
      return {
        queryKey,
        queryFn: async ({ signal }: { signal: AbortSignal }) => {
          const readAt = client.getQueryState(queryKey)?.dataUpdatedAt ?? 0
          if (life === 'repairable' || life === 'coming') await waitUntil(readAt + slowMs, signal)
          const read = async (): Promise<Timeline> =>
            await api('GET /ui/timeline', { query: queryOf(names, tile), signal })
          if (tile.untilMs > Date.now()) return await read()
          const key = JSON.stringify([await lineage(client), queryKey])
          const kept = known === undefined ? await keptTile(key) : undefined
          if (kept !== undefined) return kept
          const answer = await read()
          if (lifeOf(tile, answer) === 'closed') void keepTile(key, answer)
          return answer
        },
        // A piece is small, and a reader comes back to it.
        gcTime: 10 * 60_000,
        meta: { topics: topicsOf[life] },
      }
    }),
  })
  const pieces = useStableRefs(
    answers.flatMap(({ data }, index): Piece[] => {
      const tile = wanted[index]?.tile
      return data === undefined || tile === undefined ? [] : [pieceOf(tile, data)]
    }),
  )
  const before = useRef<ReadonlyMap<string, LaneData>>(new Map())
  const lanes = useMemo(() => lanesOf(pieces, before.current), [pieces])
  useEffect(() => {
    before.current = lanes
  })
  return {
    lanes,
    isLoading: answers.some(({ data, isFetching }) => isFetching && data === undefined),
    error: answers.find(({ error }) => error !== null)?.error ?? null,
    retry: () => {
      for (const answer of answers) if (answer.error !== null) void answer.refetch()
    },
  }
}

/**
 * What kept pieces belong to: the store, its incarnation, and the holds, since what they held back may run later. These are
 * the first, the second and the ninth part of the id of its pulse.
 */
async function lineage(client: QueryClient): Promise<string> {
  const { id } = await client.fetchQuery({
    queryKey: ['timeline', 'pulse'],
    queryFn: ({ signal }) => api('GET /pulse', { signal }),
    staleTime: 5000,
    meta: { topics: ['holds'] },
  })
  const parts = id.split('.')
  return [parts[0], parts[1], parts[8]].join('.')
}

/** What must change for a piece to be read again. A resumed trigger may run what was held back. */
const topicsOf: Readonly<Record<TileLife, readonly Topic[]>> = {
  coming: ['triggers', 'holds'],
  closed: ['holds'],
  repairable: ['runs', 'holds'],
  open: ['runs', 'ledger', 'holds', 'triggers'],
}

const lives = new WeakMap<Timeline, TileLife>()

/** An answer never changes, so its life is found once. */
function knownLife(tile: Tile, answer: Timeline): TileLife {
  const life = lives.get(answer) ?? lifeOf(tile, answer)
  lives.set(answer, life)
  return life
}

function namesOf(page: readonly Trigger[]): readonly string[] {
  return page.map(({ name }) => name)
}

function queryOf(names: readonly string[], { fromMs, untilMs }: Tile) {
  return { lanes: names, from: new Date(fromMs).toISOString(), until: new Date(untilMs).toISOString() }
}

const piecesOf = new WeakMap<Timeline, Piece>()

function pieceOf(tile: Tile, answer: Timeline): Piece {
  const known = piecesOf.get(answer) ?? { tile, answer }
  piecesOf.set(answer, known)
  return known
}

/** The same object as long as it says the same. */
function useStable<Value>(value: Value): Value {
  const text = JSON.stringify(value)
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  return useMemo(() => value, [text])
}

function useStableRefs<One>(list: readonly One[]): readonly One[] {
  // A list of changing length: its members are the dependencies.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  return useMemo(() => list, [list.length, ...list])
}
