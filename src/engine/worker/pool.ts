import { taskIdOf, taskOf, type Task } from '../../kernel/run/task.js'
import type { EngineEvents, Events } from '../events.js'
import type { RunContext } from './perform.js'
import { ResultStream, type ResultsOptions, type TaskResult } from './results.js'

/** How many attempts the pool of this process has started since the app was created, and how they ended. */
export interface PoolCounters {
  readonly submitted: number
  /** Attempts that succeeded. */
  readonly completed: number
  /** Attempts that failed, timed out or were cancelled; released attempts are not counted. */
  readonly failed: number
  /** The total duration of all attempts. */
  readonly totalDurationMs: number
}

/** The task of an attempt, with its signal. */
export function toTask(run: RunContext): Task & { readonly signal: AbortSignal } {
  const { id, job, trigger, payload, signal } = run
  return { ...taskOf({ run: id, job, trigger, payload, dueAt: run.dueAt.getTime() }), signal }
}

/** Counts the attempts of this process from the events, and streams their results. */
export class Pool {
  readonly #streams = new Set<ResultStream>()
  #submitted = 0
  #completed = 0
  #failed = 0
  #totalDurationMs = 0
  #isClosed = false

  constructor(events: Events) {
    events.on('run:started', () => void (this.#submitted += 1))
    events.on('run:ended', (ended) => this.#end(ended))
  }

  counters(): PoolCounters {
    return {
      submitted: this.#submitted,
      completed: this.#completed,
      failed: this.#failed,
      totalDurationMs: this.#totalDurationMs,
    }
  }

  /** Streams the end of each attempt from now on. */
  results(options: ResultsOptions = {}): AsyncIterableIterator<TaskResult> {
    const stream = new ResultStream(options, (ended) => this.#streams.delete(ended))
    if (this.#isClosed) stream.end()
    if (!stream.isEnded) this.#streams.add(stream)
    return stream
  }

  /** Ends all streams after the results that they still hold. */
  close(): void {
    this.#isClosed = true
    for (const stream of this.#streams) stream.end()
  }

  #end(ended: EngineEvents['run:ended']): void {
    this.#totalDurationMs += ended.durationMs
    if (ended.end === 'done') this.#completed += 1
    else if (ended.end !== 'released') this.#failed += 1
    for (const stream of this.#streams) stream.push(resultOf(ended))
  }
}

function resultOf(ended: EngineEvents['run:ended']): Omit<TaskResult, 'missed'> {
  return {
    taskId: taskIdOf(ended),
    runId: ended.run,
    job: ended.job,
    attempt: ended.attempt,
    end: ended.end,
    error: ended.error ?? null,
    output: ended.result ?? null,
    durationMs: ended.durationMs,
  }
}
