import type { PendingReason } from '../../kernel/run/pending.js'
import type { Run } from '../../kernel/run/run.js'
import { pendingText, pendingTodo } from '../../app/explain/pending-text.js'
import type { App } from '../../app/rota.js'
import { whyAllPending } from '../../app/runs/waiting.js'
import { shortIdOf, type ShortId } from '../host/short-id-of.js'
import type { TimeText } from '../framework/print/time-text.js'

/** Why runs are pending, as data and as sentences. */
export interface Pending {
  readonly reasons: (run: Run) => readonly PendingReason[]
  /** The first reason alone, for a table. */
  short(run: Run, times: TimeText): string | undefined
  /** Every reason, each with what to do about it. */
  lines(run: Run, times: TimeText): readonly string[]
}

/** Looks up why those of these runs that are pending are. */
export async function pendingOf(app: App, runs: readonly Run[]): Promise<Pending> {
  const found = await whyAllPending(await app.store(), { runs, now: app.now() })
  const holders = [...found.values()].flat().flatMap((one) => ('holders' in one ? one.holders : []))
  const shortId = await shortIdOf(app, holders)
  const reasons = (run: Run): readonly PendingReason[] => found.get(run.id) ?? []
  return {
    reasons,
    short: (run, times) => {
      const [first] = reasons(run)
      return first === undefined ? undefined : shortText(first, { times, shortId })
    },
    lines: (run, times) =>
      reasons(run).map((reason) => {
        const text = pendingText(reason, { time: (at) => times.full(at), id: shortId })
        const todo = pendingTodo(reason)
        return todo === undefined ? text : `${text}; ${todo}`
      }),
  }
}

/** A table has no room for dates: how far away it is says enough. */
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
