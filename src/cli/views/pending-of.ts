import type { PendingReason } from '../../kernel/run/pending.js'
import type { Run } from '../../kernel/run/run.js'
import { pendingText, pendingTodo } from '../../app/explain/pending-text.js'
import type { StoreReader } from '../../app/store/store-reader.js'
import { whyAllPending } from '../../app/runs/waiting.js'
import { shortIdOf, type ShortId } from '../host/short-id-of.js'
import { pendingView } from '../../wire/views/runs.js'
import { type PendingViews } from '../../wire/views/why.js'
import type { TimeText } from '../framework/print/time-text.js'

/** The short ids of runs, and why pending ones wait, as data and as sentences. */
export interface Pending {
  /** The shortest unique prefix of an id. */
  readonly shortId: ShortId
  readonly views: PendingViews
  /** Only the first reason, for a table. */
  readonly short: (run: Run, times: TimeText) => string | undefined
  /** Every reason, each with what to do about it. */
  readonly lines: (run: Run, times: TimeText) => readonly string[]
}

/** Looks up why the pending ones of these runs wait, and the short ids of these and further runs. */
export async function pendingOf(
  reader: StoreReader,
  runs: readonly Run[],
  others: readonly string[] = [],
): Promise<Pending> {
  const found = await whyAllPending(await reader.store(), { runs, now: reader.now() })
  const holders = [...found.values()].flat().flatMap((one) => ('holders' in one ? one.holders : []))
  const shortId = await shortIdOf(reader, [...runs.map(({ id }) => id), ...holders, ...others])
  const reasons = (run: Run): readonly PendingReason[] => found.get(run.id) ?? []
  return {
    shortId,
    views: (run) => reasons(run).map(pendingView),
    short: (run, times) => {
      const [first] = reasons(run)
      return first && shortText(first, { times, shortId })
    },
    lines: (run, times) =>
      reasons(run).map((reason) => {
        const text = pendingText(reason, { time: (at) => times.full(at), id: shortId })
        const todo = pendingTodo(reason)
        return todo === undefined ? text : `${text}; ${todo}`
      }),
  }
}

/** A table has no room for dates, so it shows the distance. */
function shortText(
  reason: PendingReason,
  { times, shortId }: { readonly times: TimeText; readonly shortId: ShortId },
): string {
  if (reason.kind === 'due-later') return times.distance(reason.at)
  if (reason.kind === 'retry') {
    const { at, error } = reason
    return `again ${times.distance(at)}${error === undefined ? '' : `: ${error.message}`}`
  }
  return pendingText(reason, { time: (at) => times.short(at), id: shortId })
}
