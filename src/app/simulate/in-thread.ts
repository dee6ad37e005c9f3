import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { Refusal } from '../../server/problem.js'
import { systemClock } from '../../time/clock.js'
import type { SimulationResult } from './simulate.js'
import type { SimulationThreadData, SimulationThreadMessage } from './simulation-thread.js'

/** The limits of a simulation in a server. */
export interface SimulationBounds {
  readonly longestMs: number
  readonly heapMb: number
}

/** Simulates in a separate thread, so that the scheduler and worker are not delayed; ends it when the signal aborts. */
export function simulateInThread(
  workerData: SimulationThreadData,
  given: {
    readonly bounds: SimulationBounds
    readonly signal: AbortSignal
    readonly onProgress: (share: number) => void
  },
): Promise<SimulationResult> {
  const { bounds, signal, onProgress } = given
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const resourceLimits = { maxOldGenerationSizeMb: bounds.heapMb, maxYoungGenerationSizeMb: 64 }
    const thread = new Worker(threadFile(), { workerData, execArgv: [], resourceLimits })
    const end = (settle: () => void): void => {
      signal.removeEventListener('abort', abort)
      cancelTimer()
      void thread.terminate()
      settle()
    }
    const abort = (): void => end(() => reject(signal.reason as Error))
    const refuse = (message: string): void => end(() => reject(new Refusal('SIMULATION_TOO_LARGE', message)))
    const cancelTimer = systemClock.timer(
      bounds.longestMs,
      () => refuse(`the simulation took longer than ${bounds.longestMs / 1000} s`),
      { isIdle: true },
    )
    signal.addEventListener('abort', abort, { once: true })
    thread.on('message', (message: SimulationThreadMessage) => {
      if ('progress' in message) onProgress(message.progress)
      else if ('result' in message) end(() => resolve(message.result))
      else
        end(() => reject(Object.assign(new Error(message.failed.message), { stack: message.failed.stack })))
    })
    thread.once('error', (error: Error & { code?: string }) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        refuse(`the simulation needed more than ${bounds.heapMb} MB of memory`)
      else end(() => reject(error))
    })
    thread.once('exit', () => end(() => reject(new Error('the thread of the simulation ended early'))))
  })
}

/** The compiled thread, wherever this file was loaded from. */
function threadFile(): string {
  return createRequire(import.meta.url).resolve('#simulation-thread')
}
