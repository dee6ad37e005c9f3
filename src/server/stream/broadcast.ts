/**
 * The live stream: server-sent events that name what changed, never the data itself.
 *
 * The id of a message identifies a state of the store. A client that reconnects with that id gets what changed since, by
 * a comparison of two pulses: the server stores nothing for it, and it works after a restart, through another process,
 * and on every store.
 *
 * A connection has a set of topics, not a queue: so a slow reader costs no more than a fast one. Messages are sent four
 * times a second at most, and only while the reader takes them.
 */
import type { Pulse } from '../../store/overview.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import { safeHeaders } from '../answer.js'
import { Refusal } from '../problem.js'
import { pulseText, readPulse, topicsBetween, type Topic } from './pulse-text.js'

/** The options of the stream of a store. */
export interface BroadcastOptions {
  readonly store: Store
  readonly clock: Clock
  /** Called when a read fails; it is tried again. */
  readonly onTrouble: (error: unknown) => void
}

const mostStreams = 200
const flushMs = 250
const lookMs = 2000
const pingMs = 15_000
/** A reader that accepts nothing for this long is disconnected. */
const stuckMs = 30_000

/** Reports changes of a store to all connections. */
export class Broadcast {
  readonly #options: BroadcastOptions
  readonly #connections = new Set<Connection>()
  readonly #encoder = new TextEncoder()
  #pulse: Pulse | undefined
  #stop: (() => void) | undefined
  #isLooking = false
  #isWoken = false
  #isClosed = false

  constructor(options: BroadcastOptions) {
    this.#options = options
  }

  /** Answers a request for the stream, which begins after the state that the reader knows. */
  async connect(request: Request): Promise<Response> {
    if (this.#isClosed || this.#connections.size >= mostStreams) {
      throw new Refusal('TOO_MANY_STREAMS', `${mostStreams} streams are already open`)
    }
    const pulse = await this.#current()
    const topics = topicsAfter(request.headers.get('last-event-id'), pulse)
    const connection: Connection = { topics: new Set(topics), controller: undefined, lastSentAt: this.#now() }
    const close = (): void => this.#drop(connection)
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          connection.controller = controller
          // Without an id: a reader that got one here would skip the next message.
          this.#send(connection, 'retry: 2000\nevent: hello\ndata: {}\n\n')
        },
        cancel: close,
      },
      { highWaterMark: 16 },
    )
    this.#connections.add(connection)
    request.signal.addEventListener('abort', close, { once: true })
    this.#run()
    const headers = { ...safeHeaders, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
    return new Response(body, { headers })
  }

  /** Checks for changes before the next messages: at most four times a second, however often it is called. */
  wake(): void {
    this.#isWoken = true
  }

  /** Ends all connections, and accepts no more. */
  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections) {
      this.#send(connection, 'event: bye\ndata: {}\n\n')
      this.#drop(connection)
    }
  }

  /** The newest pulse, read once for all. */
  async #current(): Promise<Pulse> {
    this.#pulse ??= await this.#options.store.pulse()
    return this.#pulse
  }

  #now(): number {
    return this.#options.clock.monotonicMs()
  }

  #run(): void {
    if (this.#stop !== undefined) return
    const { store, clock } = this.#options
    const unwatch = store.watch(() => this.wake())
    const stopLooking = every(clock, lookMs, () => void this.#look())
    const stopFlushing = every(clock, flushMs, () => void this.#turn())
    const stopPings = every(clock, pingMs, () => this.#ping())
    this.#stop = () => {
      for (const stop of [unwatch, stopLooking, stopFlushing, stopPings]) stop()
    }
  }

  async #turn(): Promise<void> {
    const isWoken = this.#isWoken
    this.#isWoken = false
    if (isWoken) await this.#look()
    this.#flush()
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const before = await this.#current()
      this.#pulse = await this.#options.store.pulse()
      const topics = topicsBetween(before, this.#pulse)
      for (const connection of this.#connections) for (const topic of topics) connection.topics.add(topic)
    } catch (error) {
      this.#options.onTrouble(error)
    } finally {
      this.#isLooking = false
    }
  }

  #flush(): void {
    const texts = new Map<string, Uint8Array>()
    for (const connection of this.#connections) {
      const { topics, controller } = connection
      if (topics.size === 0) continue
      if ((controller?.desiredSize ?? 0) <= 0) {
        if (this.#now() - connection.lastSentAt > stuckMs) this.#drop(connection)
        continue
      }
      const data = JSON.stringify({ topics: [...topics].toSorted() })
      const bytes = texts.get(data) ?? this.#encoder.encode(this.#message(data))
      texts.set(data, bytes)
      topics.clear()
      this.#sendBytes(connection, bytes)
    }
  }

  #message(data: string): string {
    return `id: ${pulseText(this.#pulse as Pulse)}\nevent: changed\ndata: ${data}\n\n`
  }

  #ping(): void {
    for (const connection of this.#connections) this.#send(connection, ': ping\n\n')
  }

  #send(connection: Connection, text: string): void {
    this.#sendBytes(connection, this.#encoder.encode(text))
  }

  #sendBytes(connection: Connection, bytes: Uint8Array): void {
    try {
      connection.controller?.enqueue(bytes)
      connection.lastSentAt = this.#now()
    } catch {
      this.#drop(connection)
    }
  }

  #drop(connection: Connection): void {
    if (!this.#connections.delete(connection)) return
    try {
      connection.controller?.close()
    } catch {
      // The reader has already closed it.
    }
    if (this.#connections.size > 0) return
    this.#stop?.()
    this.#stop = undefined
    this.#pulse = undefined
  }
}

/** What a reader has to read again. The id of a release with other pulses says nothing: then it is everything. */
function topicsAfter(id: string | null, pulse: Pulse): Iterable<Topic> {
  if (id === null || id === '') return []
  const known = readPulse(id)
  return known === undefined ? ['reset'] : topicsBetween(known, pulse)
}

interface Connection {
  readonly topics: Set<Topic>
  controller: ReadableStreamDefaultController<Uint8Array> | undefined
  lastSentAt: number
}

/** Calls a function repeatedly; returns the function that stops it. */
function every(clock: Clock, ms: number, act: () => void): () => void {
  let cancel = (): void => undefined
  const again = (): void => {
    const fire = (): void => {
      act()
      again()
    }
    cancel = clock.timer(ms, fire, { isIdle: true })
  }
  again()
  return () => cancel()
}
