import type { FeatureLoop, FeatureLoopContext, RunningLoop } from '../../engine/feature-loop.js'
import type { Look } from '../../engine/loop.js'
import { readWatch } from '../../engine/notices.js'
import { isWatched, noticeChange } from '../../kernel/alert/notice.js'
import type { Json } from '../../kernel/definition/json.js'
import {
  breachChange,
  breachKey,
  breachText,
  deadlineOf,
  lookedAt,
  subjectKey,
  type Breach,
} from '../../kernel/sla/deadline.js'
import type { StateChange, StateEntry } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import { formatInstant } from '../../time/instant.js'
import { judge, type Judgement } from './judge.js'

/** How many deadlines one step reads. */
const most = 100

/** How many breaches of one definition are kept. */
const mostKept = 200

/** How long the loop sleeps if there is no deadline; the slow poll wakes it earlier. */
const restMs = 60_000

/** Checks deadlines that have passed, in every process with the scheduler role. */
export const slaLoop: FeatureLoop = { name: 'sla', begin: (context) => new SlaLoop(context) }

class SlaLoop implements RunningLoop {
  readonly #context: FeatureLoopContext

  constructor(context: FeatureLoopContext) {
    this.#context = context
  }

  async step(): Promise<Look> {
    const { store, guard, events } = this.#context
    const now = guard.now()
    const entries = await store.stateEntries({ kind: 'deadline', limit: most })
    const over = entries.filter((entry) => lookedAt(deadlineOf(entry)) < now)
    const [next] = entries
    if (next === undefined) return { afterMs: restMs }
    if (over.length === 0) return { at: lookedAt(deadlineOf(next)) + 1 }
    const judged = await Promise.all(
      over.map(async (entry) => ({ entry, ...(await judge(store, deadlineOf(entry), now)) })),
    )
    const kept = judged.filter(isKept)
    // Most promises are kept, and one change removes all their deadlines. It is refused only if another process handled
    // one of them meanwhile: the next step then reads the rest again.
    const forgotten = kept.flatMap(({ entry, changes }) => [removal(entry), ...changes])
    if (forgotten.length > 0) await store.changeState({ changes: forgotten, now })
    const others = judged.filter((one) => !isKept(one))
    const watch = others.length === 0 ? undefined : await readWatch(store)
    for (const { entry, breaches, changes } of others) {
      const written = await Promise.all(breaches.map((breach) => recorded(store, breach, watch)))
      // The deadline is removed in the same change that records the breach: if two processes do it, one is refused.
      const all = [removal(entry), ...changes, ...written.flat()]
      const answer = await store.changeState({ changes: all, now })
      if (answer === 'changed') for (const breach of breaches) events.emit('sla:breached', breach)
    }
    return { afterMs: 0 }
  }

  async stop(): Promise<void> {
    // Nothing is in progress between two steps.
  }
}

/** Whether a run kept its promise. Promises about successes and partitions are not included: other processes change their entries often, so each is a separate change. */
function isKept({ entry, breaches }: { readonly entry: StateEntry } & Judgement): boolean {
  return breaches.length === 0 && deadlineOf(entry).run !== null
}

function removal({ kind, name, item, revision }: StateEntry): StateChange {
  return { kind, name, item, revision, value: undefined }
}

/** The changes of a breach: the record, its notice, and the removal of the oldest record if there are too many. */
async function recorded(
  store: Store,
  breach: Breach,
  watch: Json | undefined,
): Promise<readonly StateChange[]> {
  const { trigger, job, run, dueAt, at, rule } = breach
  const names = [subjectKey(breach)]
  const kept = await store.stateEntries({ kind: 'breach', names, limit: mostKept })
  const [oldest] = kept
  const notice = { on: 'sla', at, job, trigger, run, dueAt, text: breachText(breach, formatInstant) } as const
  const { item } = breachKey(breach)
  return [
    breachChange(breach),
    ...(isWatched(watch, 'sla') ? [noticeChange(notice, `${names[0]} ${item} ${rule}`)] : []),
    ...(oldest !== undefined && kept.length === mostKept
      ? [{ ...removal(oldest), revision: undefined }]
      : []),
  ]
}
