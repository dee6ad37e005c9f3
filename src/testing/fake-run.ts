import type { RunContext } from '../engine/worker/perform.js'
import type { LogLine } from '../kernel/run/run.js'

/** The run for a handler that a test calls directly; everything has a default. */
export interface FakeRunOptions<Payload> {
  readonly payload?: Payload | undefined
  /** Default: `job`. */
  readonly job?: string | undefined
  /** Default: none, as after `app.enqueue`. */
  readonly trigger?: string | undefined
  /** Default: `run-1`. */
  readonly id?: string | undefined
  /** Default: 1. */
  readonly attempt?: number | undefined
  /** Default: true, as for a job without a retry. */
  readonly isLastAttempt?: boolean | undefined
  /** Default: 2026-01-01T00:00:00Z, so that a test gives the same result every day. */
  readonly dueAt?: Date | string | undefined
  readonly partition?: string | undefined
}

/** A run that exists only for the handler that is called with it. */
export interface FakeRun<Payload> extends RunContext<Payload> {
  /** What the handler logged. */
  readonly lines: readonly Pick<LogLine, 'level' | 'text'>[]
  /** Aborts the signal, as a timeout or a cancel does. */
  abort(reason?: unknown): void
}

/** A run to call a handler with: `await sendReport(fakeRun({ payload: { to: 'ada' } }))`. */
export function fakeRun<Payload = unknown>(options: FakeRunOptions<Payload> = {}): FakeRun<Payload> {
  const {
    payload,
    job = 'job',
    trigger,
    id = 'run-1',
    attempt = 1,
    isLastAttempt = true,
    partition,
  } = options
  const lines: Pick<LogLine, 'level' | 'text'>[] = []
  const controller = new AbortController()
  return {
    id,
    job,
    trigger,
    attempt,
    isLastAttempt,
    partition,
    dueAt: new Date(options.dueAt ?? '2026-01-01T00:00:00Z'),
    payload: payload as Payload,
    signal: controller.signal,
    log: (text, level = 'info') => void lines.push({ level, text }),
    lines,
    abort: (reason) => controller.abort(reason),
  }
}
