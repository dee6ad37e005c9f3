import type { RunId } from '../kernel/identity/identity.js'
import type { LedgerRange } from '../kernel/ledger/ledger.js'
import type { Json } from '../kernel/definition/json.js'
import type { CheckNotice } from '../kernel/trigger/round-spec.js'
import type { NewRun, RunState, StoredError } from '../kernel/run/run.js'
import type { Task } from '../kernel/run/task.js'
import type { Breach } from '../kernel/sla/deadline.js'
import type { Instant } from '../time/instant.js'

/** All events: they report what already happened; only the store is authoritative. Features add their own events. */
export interface EngineEvents {
  /** A trigger was planned: its new runs, and the ranges without runs. */
  tick: {
    trigger: string
    at: Instant
    runs: readonly NewRun[]
    ranges: readonly LedgerRange[]
    /** For a round: the services that its check found due, and those it skipped. */
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
    /** The return value of its handler, if it is done. */
    result: Json | undefined
    /** When it is retried, if it is. */
    retryAt: Instant | undefined
  }
  /** A result was refused: the claim is no longer current. */
  'run:refused': RunNotice
  /** The worker of a run disappeared; `state` is the new state of the run. */
  'run:lost': { run: RunId; job: string; attempt: number; worker: string; state: RunState }
  /** A line that a run wrote. */
  'run:log': { run: RunId; job: string; level: string; text: string }
  /** A function ignored its abort signal; its slot stays taken until it returns. */
  'run:stuck': RunNotice
  /** A run was due for some time and no worker has claimed it: a subscriber may take it. */
  'run:offered': OfferedRun
  /** A run did not begin or end as soon as its trigger promises; the breach is recorded. */
  'sla:breached': Breach
  /** An operation was requested through this app; with its result. */
  operation: OperationNotice
  /** Jobs and triggers of a source were added, changed or ended, by any process, as `job <name>` and `trigger <name>`. */
  definitions: {
    source: string
    defined: readonly string[]
    changed: readonly string[]
    ended: readonly string[]
  }
  /** The lease of this worker expired; it took a new id. */
  'worker:expired': { worker: string }
  /** Nothing is claimed any more, because every slot is held by a handler that ignored its signal. */
  'worker:not-ready': { stuck: number }
  /** This process takes no new work; its running attempts continue. */
  'worker:draining': { worker: string; running: number }
  /** It drains and has no runs left: the listener may end the process. */
  'worker:drained': { worker: string }
  /** It may take work again. */
  'worker:undrained': { worker: string }
  /** Planning waits because the wall clock cannot be trusted. */
  clock: { kind: 'behind' | 'unsure' | 'refused'; byMs: number }
  /** Something failed and will be tried again. */
  trouble: { where: string; error: unknown; retryInMs: number }
  /** Something failed permanently: the engine stops. */
  fatal: { where: string; error: unknown }
}

/** A run that waits for a worker or a subscriber. */
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

/** One requested operation: the action, its target, and the result. */
export interface OperationNotice {
  operation: string
  /** The trigger, job, run, queue or file it is about. */
  target: string
  outcome: string
  /** Additional data for programs. */
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

/** Listeners by event. A listener that throws does no harm: its error becomes a `trouble` event. */
export class Events {
  readonly #listeners = new Map<EventName, Set<Listener<never>>>()
  readonly #listenersOfAll = new Set<Listener<never>>()

  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Listens to every event, including those that features declare. */
  onAll(listener: (event: EngineEvents[EventName], name: EventName) => unknown): () => void {
    this.#listenersOfAll.add(listener)
    return () => this.#listenersOfAll.delete(listener)
  }

  /** Whether there is a listener: without one, the event need not be built. */
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
      if (returned instanceof Promise) returned.catch((error: unknown) => this.#emitFailure(name, error))
    } catch (error) {
      this.#emitFailure(name, error)
    }
  }

  #emitFailure(name: EventName, error: unknown): void {
    if (name !== 'trouble') this.emit('trouble', { where: `listener of ${name}`, error, retryInMs: 0 })
  }
}
