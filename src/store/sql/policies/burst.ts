import { countedLabels, debouncedRunAt } from '../../../kernel/run/burst.js'
import type { Labels, NewRun } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import { endEffectCode, fromJson, toJson } from '../rows/run-rows.js'
import { delayed, done } from '../rows/states.js'
import { slotsText } from '../runs/concurrency-slots.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

// Relies on: runs_unique_open. A run that has begun is never changed, even if it waits for a retry.
const WAITING = `select seq, id, labels, created_at from rota.runs where job = $1 and unique_key = $2
  and unique_key is not null and state < ${done} and state + 0 = ${delayed} and attempt = 0 order by seq desc limit 1`

// Relies on: primary key. The run has no slots while it waits for its instant.
const REPLACE = `update rota.runs set payload = $1, run_at = $2, priority = $3, partition = $4, gates = $5, follow = $6,
  labels = $7 where seq = $8`

// Relies on: runs_unique_until.
const IN_PERIOD = `select seq, id, labels from rota.runs where job = $1 and unique_key = $2 and unique_until > $3
  order by seq limit 1`

// Relies on: primary key. Does not wait for a worker that ends the run: it may wait for a slot of this transaction.
const COUNT = `update rota.runs set labels = $1
  where seq = (select seq from rota.runs where seq = $2 for update skip locked)`

interface Standing {
  readonly seq: number
  readonly id: string
  readonly labels: string | null
  readonly created_at: number
}

/** The existing run for an enqueue with debounce or throttle, updated by the rule; undefined if there is none. */
export function* applyBurst(session: Session, run: NewRun, now: Instant): Verb<string | undefined> {
  const { burst, job, uniqueKey = '' } = run
  if (burst === undefined) return undefined
  if (burst.kind === 'throttle') {
    const first = yield* session.sql.get<Standing>(IN_PERIOD, job, uniqueKey, now)
    if (first === undefined) return undefined
    const changed = yield* session.sql.change(COUNT, labelsOf('throttle', first), first.seq)
    if (changed === 0) session.beExclusive()
    return first.id
  }
  const waiting = yield* session.sql.get<Standing>(WAITING, job, uniqueKey)
  if (waiting === undefined) return undefined
  session.tell('runs')
  yield* session.sql.change(
    REPLACE,
    toJson(run.payload),
    debouncedRunAt(burst, { now, sinceAt: waiting.created_at }),
    run.priority,
    run.partition ?? null,
    slotsText(run.slots),
    endEffectCode(session.endEffects, run.endEffect),
    labelsOf('debounce', waiting),
    waiting.seq,
  )
  return waiting.id
}

function labelsOf(kind: 'debounce' | 'throttle', { labels }: Standing): string | null {
  return toJson(countedLabels(kind, fromJson(labels) as Labels | undefined))
}
