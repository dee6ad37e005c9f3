import { useQueryClient } from '@tanstack/react-query'
import type { Backfill } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { words as common } from '../../words/common.js'
import { useToast } from '../toast.js'

/** Shows that a backfill was started, with a cancel as its undo, or that there was nothing to do. */
export function useTellStarted(words: {
  readonly nothing: string
  readonly started: (count: string) => string
}): (backfill: Backfill | null) => Promise<void> {
  const client = useQueryClient()
  const toast = useToast()
  return async (backfill) => {
    await client.invalidateQueries({ queryKey: ['backfills'] })
    if (backfill === null) return toast({ text: words.nothing })
    const { id, total } = backfill
    toast({
      text: words.started(formatCount(total)),
      undo: async () =>
        await api('POST /backfills/{id}/cancel', { path: { id }, body: { reason: common.undoReason } }),
    })
  }
}
