import type { ErrorTracer } from './error-tracer.js'

/** Where errors that nobody catches come from; for the listeners that a process has for them. */
export interface ErrorTrace {
  /** Fails the run or poll whose code is the cause, and says true; says false where the error comes from elsewhere. */
  take(error: unknown): boolean
  /** Whose code is being executed: `run <id> of <job>` or `sensor <name>`. */
  readonly current: string | undefined
}

/** Begins to trace errors; it sets no listener of the process. */
export function traceErrors(tracer: ErrorTracer): ErrorTrace {
  tracer.trace()
  return {
    take: (error) => tracer.take(error),
    get current() {
      return tracer.current?.title
    },
  }
}
