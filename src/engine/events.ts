import type { RunId } from '../kernel/identity/identity.js'
import type { LedgerRange } from '../kernel/ledger/ledger.js'
import type { Json } from '../kernel/definition/json.js'
import type { CheckNotice } from '../kernel/trigger/round-spec.js'
import type { NewRun, RunState, StoredError } from '../kernel/run/run.js'
import type { Task } from '../kernel/run/task.js'
import type { Breach } from '../kernel/sla/deadline.js'
import type { Instant } from '../time/instant.js'

/** All events: they report what already happened; only the store is authoritative. A feature declares its own events in its folder. */
export interface EngineEvents {
  /** A trigger was planned: the runs it made and what did not become one. */
  tick: {
    trigger: string
    at: Instant
    runs: readonly NewRun[]
    ranges: readonly LedgerRange[]
    /** Of a round, what its check found due and left out. */
    checks?: readonly CheckNotice[] | undefined
  }
  /** An attempt began. */
  'run:started': RunNotice
  /** An attempt ended and its end is stored. */
  'run:ended': RunNotice & {
    end: string
    state: RunState
    durationMs: number
    error: StoredError | undefined
    /** What its handler returned, where it is done. */
    result: Json | undefined
    /** When it is tried again, where it is. */
    retryAt: Instant | undefined
  }
  /** A result came too late: a newer claim, or a closed one, stands. */
  'run:refused': RunNotice
  /** A run's worker disappeared; what became of the run. */
  'run:lost': { run: RunId; job: string; attempt: number; worker: string; state: RunState }
  /** A line that a run wrote. */
  'run:log': { run: RunId; job: string; level: string; text: string }
  /** A function went on after it was told to stop; its slot stays taken until it returns. */
  'run:stuck': RunNotice
  /** A run was due for some time and nobody has claimed it: a subscriber may take it. */
  'run:offered': OfferedRun
  /** A run did not begin or end as soon as its trigger promises; the breach is recorded. */
  'sla:breached': Breach
  /** Something was asked for through this app, and what became of it. */
  operation: OperationNotice
  /** Jobs and triggers of a source were added, changed or ended, by any process, as `job <name>` and `trigger <name>`. */
  definitions: {
    source: string
    defined: readonly string[]
    changed: readonly string[]
    ended: readonly string[]
  }
  /** This worker's lease was over; it took a new id. */
  'worker:expired': { worker: string }
  /** Nothing is claimed any more because every slot is held by something that ignored its signal. */
  'worker:not-ready': { stuck: number }
  /** This process takes no new work; its running attempts continue. */
  'worker:draining': { worker: string; running: number }
  /** It drains and has nothing left to do: the listener may end the process. */
  'worker:drained': { worker: string }
  /** It may take work again. */
  'worker:undrained': { worker: string }
  /** Planning waits because the wall clock cannot be believed. */
  clock: { kind: 'behind' | 'unsure' | 'refused'; byMs: number }
  /** Something failed and is tried again. */
  trouble: { where: string; error: unknown; retryInMs: number }
  /** Something failed for good: the engine stops. */
  fatal: { where: string; error: unknown }
}

/** A run that waits for somebody to take it. */
export interface OfferedRun {
  run: RunId
  job: string
  trigger: string | undefined
  /** How often it was claimed before. */
  attempt: number
  dueAt: Instant
  /** When its trigger is due: a cron expression, `every …`, `at …`; undefined for a run without one. */
  schedule: string | undefined
  task: Task
  /** How long it could have been claimed. */
  waitedMs: number
  /** How often it has been offered, this time included. */
  times: number
}

/** One thing that was asked for: what, of what, and the answer. */
export interface OperationNotice {
  operation: string
  /** The trigger, job, run, queue or file it is about. */
  target: string
  outcome: string
  /** What else a program may want to know. */
  details?: Readonly<Record<string, Json>> | undefined
}

/** Which attempt of which run. */
export interface RunNotice {
  run: RunId
  job: string
  trigger: string | undefined
  attempt: number
  dueAt: Instant
}

/** The name of an event. */
export type EventName = keyof EngineEvents

type Listener<Name extends EventName> = (event: EngineEvents[Name], name: Name) => unknown

/** Listeners by event. A listener that throws harms nobody: its error becomes a `trouble`. */
export class Events {
  readonly #listeners = new Map<EventName, Set<Listener<never>>>()
  readonly #listenersOfAll = new Set<Listener<never>>()

  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Listens to every event, also to those that only a feature knows. */
  onAll(listener: (event: EngineEvents[EventName], name: EventName) => unknown): () => void {
    this.#listenersOfAll.add(listener)
    return () => this.#listenersOfAll.delete(listener)
  }

  /** Whether anyone listens: what nobody hears need not be put together. */
  has(name: EventName): boolean {
    return this.#listenersOfAll.size + (this.#listeners.get(name)?.size ?? 0) > 0
  }

  emit<Name extends EventName>(name: Name, event: EngineEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) this.#call(listener, name, event)
    for (const listener of this.#listenersOfAll) this.#call(listener, name, event)
  }

  #call<Name extends EventName>(listener: Listener<never>, name: Name, event: EngineEvents[Name]): void {
    try {
      const returned = (listener as unknown as Listener<Name>)(event, name)
      if (returned instanceof Promise) returned.catch((error: unknown) => this.#tellFailure(name, error))
    } catch (error) {
      this.#tellFailure(name, error)
    }
  }

  #tellFailure(name: EventName, error: unknown): void {
    if (name !== 'trouble') this.emit('trouble', { where: `listener of ${name}`, error, retryInMs: 0 })
  }
}
