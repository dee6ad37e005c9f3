/**
 * The thread that keeps a worker's lease while the main thread is busy: it has its own connection, so that a handler
 * that blocks the event loop does not lose what the process holds. If the main thread does not answer for longer than
 * the stall limit the process is taken for hung and ends at once; its runs are then taken over elsewhere.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { Heartbeat } from '../engine/keep-alive.js'
import { systemClock } from '../time/clock.js'
import { openStore, type Durability } from './open-store.js'

/** What the main thread hands over. */
export interface LeaseThreadData {
  readonly url: string
  readonly durability: Durability
  readonly worker: string
  readonly leaseMs: number
  readonly stallMs: number
}

/** What the thread says: a question whether the main thread is alive, or that the lease is over. */
export type LeaseThreadMessage = 'ping' | 'expired'

async function keep(data: LeaseThreadData, port: NonNullable<typeof parentPort>): Promise<void> {
  const { url, durability, worker, leaseMs, stallMs } = data
  const clock = systemClock
  let answeredMs = clock.monotonicMs()
  const store = await openStore(url, { clock, durability, directory: '/', create: false })
  const heartbeat = new Heartbeat({
    worker,
    leaseMs,
    clock,
    now: () => clock.now(),
    store: {
      heartbeat: (request) => {
        if (clock.monotonicMs() - answeredMs > stallMs) process.kill(process.pid, 'SIGKILL')
        port.postMessage('ping' satisfies LeaseThreadMessage)
        return store.heartbeat(request)
      },
    },
    onExpired: () => port.postMessage('expired' satisfies LeaseThreadMessage),
  })
  port.on('message', (message: 'pong' | 'stop') => {
    answeredMs = clock.monotonicMs()
    if (message === 'stop')
      void heartbeat
        .stop()
        .then(() => store.close())
        .then(() => port.close())
  })
  heartbeat.start()
}

if (parentPort !== null) await keep(workerData as LeaseThreadData, parentPort)
