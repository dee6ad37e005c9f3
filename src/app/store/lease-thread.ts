/**
 * The thread that renews a worker's lease while the main thread is busy: it has its own connection, so that a handler
 * that blocks the event loop does not lose the runs of the process. If the main thread does not answer for longer than
 * the stall limit, the process counts as hung and exits immediately; its runs are then taken over elsewhere.
 */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { ClockGuard } from '../../engine/scheduler/clock-guard.js'
import { Heartbeat } from '../../engine/worker/keep-alive.js'
import type { Beat } from '../../store/port.js'
import { systemClock, type Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { ExitGate } from './exit-gate.js'
import { openLease, type Durability, type LeaseStore } from './open-adapter.js'
import { clockFor } from './store-address.js'

/** The data from the main thread. */
export interface LeaseThreadData {
  readonly url: string
  readonly durability: Durability
  readonly worker: string
  readonly leaseMs: number
  readonly stallMs: number
  /** The current time of the main thread. */
  readonly now: Instant
  /** The shared memory of the exit gate. */
  readonly gate: SharedArrayBuffer
}

/** A message of the thread: a ping for the main thread, or the result of a heartbeat. */
export type LeaseThreadMessage = 'ping' | 'full' | Beat

/** A message of the main thread: a pong, the end of the thread, or a time that it has accepted. */
export type MainThreadMessage = 'pong' | 'stop' | { readonly accepted: Instant }

async function keep(data: LeaseThreadData, port: MessagePort): Promise<void> {
  const { url, durability, worker, leaseMs, stallMs } = data
  const clock = clockFor(url, systemClock)
  const gate = new ExitGate(data.gate)
  const opened = await gate.during(() => openLease(url, { clock, durability, directory: '/' }))
  const store: LeaseStore = {
    heartbeat: (beat) => gate.during(() => opened.heartbeat(beat)),
    workers: () => gate.during(() => opened.workers()),
    close: () => gate.during(() => opened.close()),
  }
  // The main thread checks the time, and sends a message when it accepts a doubtful one. While it is busy the same rules
  // apply here. Otherwise one thread would use a time in which the other does not renew the lease yet.
  const guard = new ClockGuard(clock, { highestAt: data.now, acceptClock: true })
  guard.accept(data.now)
  const now = (): number => guard.now()
  const pulse = new Pulse({ clock, port, stallMs })
  const tell = (message: LeaseThreadMessage): void => {
    pulse.asked()
    port.postMessage(message)
  }
  const onExpired = (): void => tell('expired')
  const onBeat = (isDraining: boolean): void => tell(isDraining ? 'draining' : 'alive')
  const onFull = (): void => tell('full')
  // Immediately: starting the thread has used a part of the lease.
  const keeping = { worker, leaseMs, clock, now, store, isDue: true }
  const heartbeat = new Heartbeat({ ...keeping, onExpired, onBeat, onFull })
  port.on('message', (message: MainThreadMessage) => {
    pulse.answered()
    if (typeof message === 'object') {
      guard.accept(message.accepted)
      heartbeat.accept()
    }
    if (message !== 'stop') return
    pulse.stop()
    void heartbeat
      .stop()
      .then(() => store.close())
      .then(() => port.close())
  })
  pulse.start()
  heartbeat.start()
}

/** The number of questions within the stall limit, if each is a ping. */
const questions = 5

/**
 * Pings the main thread, and ends the process if it has not answered for too long. Results of heartbeats, which it answers
 * as well, count as pings: in an idle process, each message costs both threads a wake-up.
 */
class Pulse {
  readonly #options: { readonly clock: Clock; readonly port: MessagePort; readonly stallMs: number }
  #askedMs: number
  #isAnswered = true
  #isOver = false
  /** Counts the time between questions, each as one interval at most: a suspended process asks none meanwhile. */
  #unansweredMs = 0
  #cancelTimer: () => void = () => undefined

  constructor(options: { readonly clock: Clock; readonly port: MessagePort; readonly stallMs: number }) {
    this.#options = options
    this.#askedMs = options.clock.monotonicMs()
  }

  start(): void {
    const { clock, port } = this.#options
    if (this.#isOver) return
    this.#cancelTimer = clock.timer(this.#everyMs, () => {
      this.asked()
      port.postMessage('ping' satisfies LeaseThreadMessage)
    })
  }

  /** A message is about to be sent that the main thread answers. */
  asked(): void {
    const { clock, stallMs } = this.#options
    const nowMs = clock.monotonicMs()
    if (!this.#isAnswered) this.#unansweredMs += Math.min(nowMs - this.#askedMs, this.#everyMs)
    if (this.#unansweredMs >= stallMs) process.kill(process.pid, 'SIGKILL')
    this.#askedMs = nowMs
    this.#isAnswered = false
    this.#cancelTimer()
    this.start()
  }

  answered(): void {
    this.#isAnswered = true
    this.#unansweredMs = 0
  }

  stop(): void {
    this.#isOver = true
    this.#cancelTimer()
  }

  get #everyMs(): number {
    return this.#options.stallMs / questions
  }
}

if (parentPort !== null) await keep(workerData as LeaseThreadData, parentPort)
