import type { FeatureLoop, FeatureLoopContext, RunningLoop } from '../../engine/feature-loop.js'
import type { Look } from '../../engine/loop.js'
import { readWatch } from '../../engine/notices.js'
import { isWatched, noticeChange } from '../../kernel/alert/notice.js'
import type { Json } from '../../kernel/definition/json.js'
import { breachChange, breachText, deadlineOf, type Breach, type Deadline } from '../../kernel/sla/sla.js'
import type { StateChange, StateEntry } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import { formatInstant, type Instant } from '../../time/instant.js'

/** How many deadlines one look reads. */
const most = 100

/** How many breaches of one trigger are kept. */
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
    const over = entries.filter((entry) => deadlineOf(entry).deadlineAt < now)
    const [next] = entries
    if (next === undefined) return { afterMs: restMs }
    if (over.length === 0) return { at: deadlineOf(next).deadlineAt + 1 }
    const watch = await readWatch(store)
    for (const entry of over) {
      const breach = await judged(store, deadlineOf(entry), now)
      // The deadline goes with what is written about it: of two processes one is refused.
      const changes = [removal(entry), ...(breach === undefined ? [] : await recorded(store, breach, watch))]
      const answer = await store.changeState({ changes, now })
      if (answer === 'changed' && breach !== undefined) events.emit('sla:breached', breach)
    }
    return { afterMs: 0 }
  }

  async stop(): Promise<void> {
    // Nothing is in progress between two looks.
  }
}

function removal({ kind, name, item, revision }: StateEntry): StateChange {
  return { kind, name, item, revision, value: undefined }
}

/** The breach, if the deadline was not kept. A run that was cancelled or pruned breaks no promise. */
async function judged(store: Store, deadline: Deadline, now: Instant): Promise<Breach | undefined> {
  const run = await store.run(deadline.run)
  if (run === undefined || run.state === 'cancelled') return undefined
  const keptAt = deadline.rule === 'finished-within' ? run.finishedAt : await firstStart(store, deadline.run)
  return keptAt !== undefined && keptAt <= deadline.deadlineAt ? undefined : { ...deadline, at: now }
}

async function firstStart(store: Store, run: string): Promise<Instant | undefined> {
  const [first] = await store.attempts(run)
  return first?.startedAt ?? first?.claimedAt
}

/** What is written about a breach: the fact, its notice, and the removal of the oldest fact where there are too many. */
async function recorded(
  store: Store,
  breach: Breach,
  watch: Json | undefined,
): Promise<readonly StateChange[]> {
  const { trigger, job, run, dueAt, at, rule } = breach
  const kept = await store.stateEntries({ kind: 'breach', names: [trigger], limit: mostKept })
  const [oldest] = kept
  const notice = { on: 'sla', at, job, trigger, run, dueAt, text: breachText(breach, formatInstant) } as const
  return [
    breachChange(breach),
    ...(isWatched(watch, 'sla') ? [noticeChange(notice, `${run} ${rule}`)] : []),
    ...(oldest !== undefined && kept.length === mostKept
      ? [{ ...removal(oldest), revision: undefined }]
      : []),
  ]
}
