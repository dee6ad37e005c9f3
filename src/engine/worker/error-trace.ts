import type { ErrorTracer } from './error-tracer.js'

/** Finds out where uncaught errors come from, for the listeners of the process. */
export interface ErrorTrace {
  /** Fails the run or poll that caused the error and returns true; returns false if the error comes from elsewhere. */
  take(error: unknown): boolean
  /** The code that is running now: `run <id> of <job>` or `sensor <name>`. */
  readonly current: string | undefined
}

/** Starts to trace errors; sets no listener of the process. */
export function traceErrors(tracer: ErrorTracer): ErrorTrace {
  tracer.trace()
  return {
    take: (error) => tracer.take(error),
    get current() {
      return tracer.current?.title
    },
  }
}
