import { taskIdOf, taskOf, type Task } from '../../kernel/run/task.js'
import type { EngineEvents, Events } from '../events.js'
import type { RunContext } from './perform.js'
import { ResultStream, type ResultsOptions, type TaskResult } from './results.js'

/** What the pool of this process has done since the app was made: attempts begun, and how they ended. */
export interface PoolCounters {
  readonly submitted: number
  /** Attempts that were done. */
  readonly completed: number
  /** Attempts that failed, timed out or were cancelled; those that were released are in neither. */
  readonly failed: number
  /** How long all attempts took together. */
  readonly totalDurationMs: number
}

/** The task of the attempt that a handler performs, with its signal. */
export function toTask(run: RunContext): Task & { readonly signal: AbortSignal } {
  const { id, job, trigger, payload, signal } = run
  return { ...taskOf({ run: id, job, trigger, payload, dueAt: run.dueAt.getTime() }), signal }
}

/** Counts what the events tell of attempts in this process, and passes on what they came to. */
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

  /** The end of every attempt from now on. */
  results(options: ResultsOptions = {}): AsyncIterableIterator<TaskResult> {
    const stream = new ResultStream(options, (ended) => this.#streams.delete(ended))
    if (this.#isClosed) stream.end()
    if (!stream.isEnded) this.#streams.add(stream)
    return stream
  }

  /** Ends all streams after what they still hold. */
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
