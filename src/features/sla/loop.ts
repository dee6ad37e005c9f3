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

/** How many deadlines one look reads. */
const most = 100

/** How many breaches of one definition are kept. */
const mostKept = 200

/** How long a loop rests that found no deadline; the slow poll wakes it before. */
const restMs = 60_000

/** Judges deadlines that are over, in every process with the scheduler role. */
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
    // Most promises are kept, and one change forgets them all. It is refused only if another process judged one of them
    // meanwhile: what it left is read again by the next look.
    const forgotten = kept.flatMap(({ entry, changes }) => [removal(entry), ...changes])
    if (forgotten.length > 0) await store.changeState({ changes: forgotten, now })
    const others = judged.filter((one) => !isKept(one))
    const watch = others.length === 0 ? undefined : await readWatch(store)
    for (const { entry, breaches, changes } of others) {
      const written = await Promise.all(breaches.map((breach) => recorded(store, breach, watch)))
      // The deadline goes with what is written about it: of two processes one is refused.
      const all = [removal(entry), ...changes, ...written.flat()]
      const answer = await store.changeState({ changes: all, now })
      if (answer === 'changed') for (const breach of breaches) events.emit('sla:breached', breach)
    }
    return { afterMs: 0 }
  }

  async stop(): Promise<void> {
    // Nothing is in progress between two looks.
  }
}

/** Whether a run kept its promise. What successes and partitions keep is written by others all the time, so each is a change of its own. */
function isKept({ entry, breaches }: { readonly entry: StateEntry } & Judgement): boolean {
  return breaches.length === 0 && deadlineOf(entry).run !== null
}

function removal({ kind, name, item, revision }: StateEntry): StateChange {
  return { kind, name, item, revision, value: undefined }
}

/** What is written about a breach: the fact, its notice, and the removal of the oldest fact where there are too many. */
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
