/**
 * One stream for all tabs of a browser: browsers open only six connections to a server over HTTP/1.1, so a stream in each
 * tab would stop the seventh one from loading. The tab that holds a Web Lock listens and informs the others through a
 * BroadcastChannel; when it closes, the next tab takes over and requests what happened after the last message.
 *
 * Web Locks exist in secure contexts only. Without them, and while the stream is lost, every visible tab asks for the pulse.
 */
import { api } from './api.js'
import { readEvents } from './events.js'

/** What may have to be read again. */
export type Topic = 'reset' | 'runs' | 'ledger' | 'triggers' | 'holds' | 'workers' | 'state' | 'audit'

/** How changes arrive: by the stream, by polling, not now, or not yet. */
export type LiveState = 'connecting' | 'live' | 'polling' | 'lost'

/** What the listener of a browser sends: topics to read again, and how changes arrive. */
export interface LiveListener {
  onTopics(topics: readonly Topic[]): void
  onState(state: LiveState): void
}

const pollMs = 2000
const lostPollMs = 10_000
const silenceMs = 40_000
/** A server greets at once; what takes longer is a proxy that holds the stream back. */
const helloMs = 8000
const retryMs = 2000

/** Starts to listen; returns the function that stops it. */
export function listen(listener: LiveListener): () => void {
  const stop = new AbortController()
  const name = `rota${location.pathname}`
  if (typeof navigator.locks === 'undefined' || typeof BroadcastChannel === 'undefined') {
    listener.onState('connecting')
    void poll({ listener, everyMs: pollMs, state: 'polling', signal: stop.signal })
  } else {
    const channel = new BroadcastChannel(name)
    stop.signal.addEventListener('abort', () => channel.close())
    new Tab({ name, channel, listener, signal: stop.signal }).start()
  }
  return () => stop.abort()
}

type Told =
  | { readonly kind: 'topics'; readonly topics: readonly Topic[]; readonly id: string }
  | { readonly kind: 'state'; readonly state: LiveState; readonly id: string }
  | { readonly kind: 'who' }

interface TabOptions {
  readonly name: string
  readonly channel: BroadcastChannel
  readonly listener: LiveListener
  readonly signal: AbortSignal
}

/** One tab: it follows the tab that listens, and listens itself when it is its turn. */
class Tab {
  readonly #options: TabOptions
  #state: LiveState = 'connecting'
  #isLeader = false
  /** The id of the last message that this browser got. */
  #id = ''
  #polling: AbortController | undefined

  constructor(options: TabOptions) {
    this.#options = options
  }

  start(): void {
    const { name, channel, signal } = this.#options
    channel.addEventListener('message', ({ data }: MessageEvent<Told>) => this.#hear(data))
    channel.postMessage({ kind: 'who' } satisfies Told)
    const lead = async (): Promise<void> => {
      this.#isLeader = true
      while (!signal.aborted) {
        // Why it ended does not matter: the next try shows it.
        await this.#read().catch(() => undefined)
        this.#lose()
        await pause(retryMs, signal)
      }
    }
    navigator.locks.request(name, { signal }, lead).catch(() => undefined)
  }

  #hear(told: Told): void {
    if (told.kind === 'who') {
      if (this.#isLeader) this.#tell({ kind: 'state', state: this.#state, id: this.#id })
      return
    }
    if (told.id !== '') this.#id = told.id
    if (told.kind === 'topics') this.#options.listener.onTopics(told.topics)
    else this.#show(told.state)
  }

  /** Informs the other tabs and this one. */
  #announce(told: Told): void {
    this.#tell(told)
    this.#hear(told)
  }

  #tell(told: Told): void {
    this.#options.channel.postMessage(told)
  }

  #show(state: LiveState): void {
    if (state === this.#state) return
    this.#state = state
    this.#options.listener.onState(state)
  }

  /** The tab that leads asks for the pulse while it has no stream. */
  #lose(): void {
    const { signal } = this.#options
    if (signal.aborted || this.#polling !== undefined) return
    this.#announce({ kind: 'state', state: 'lost', id: this.#id })
    this.#polling = new AbortController()
    signal.addEventListener('abort', () => this.#polling?.abort(), { once: true })
    const listener: LiveListener = {
      onTopics: (topics) => this.#announce({ kind: 'topics', topics, id: '' }),
      onState: () => undefined,
    }
    void poll({ listener, everyMs: lostPollMs, state: 'lost', signal: this.#polling.signal })
  }

  #find(): void {
    this.#polling?.abort()
    this.#polling = undefined
    this.#announce({ kind: 'state', state: 'live', id: this.#id })
  }

  async #read(): Promise<void> {
    const { signal } = this.#options
    const attempt = new AbortController()
    const abort = (): void => attempt.abort()
    signal.addEventListener('abort', abort)
    // A peer that vanished sends no end; the server sends a ping every 15 s.
    let silence = setTimeout(abort, helloMs)
    try {
      const body = await openStream(this.#id, attempt.signal)
      for await (const { event, data, id } of readEvents(body)) {
        clearTimeout(silence)
        silence = setTimeout(abort, silenceMs)
        if (event === 'bye') return
        if (event === 'hello') this.#find()
        if (event !== 'changed') continue
        const { topics } = JSON.parse(data) as { topics: readonly Topic[] }
        this.#announce({ kind: 'topics', topics, id })
      }
    } finally {
      clearTimeout(silence)
      signal.removeEventListener('abort', abort)
      attempt.abort()
    }
  }
}

async function openStream(id: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const headers = id === '' ? {} : { 'last-event-id': id }
  const response = await fetch('./api/v1/stream', { headers, signal })
  if (!response.ok || response.body === null) throw new Error(`the stream answered ${response.status}`)
  return response.body
}

/** Asks for the pulse; when it changed, everything may have. Hidden tabs do not ask. */
async function poll(options: {
  readonly listener: LiveListener
  readonly everyMs: number
  readonly state: LiveState
  readonly signal: AbortSignal
}): Promise<void> {
  const { listener, everyMs, state, signal } = options
  let known: string | undefined
  while (!signal.aborted) {
    if (document.visibilityState === 'visible') {
      try {
        const { id } = await api('GET /pulse', { signal })
        if (known !== id) listener.onTopics(['reset'])
        known = id
        listener.onState(state)
      } catch {
        listener.onState('lost')
      }
    }
    await pause(everyMs, signal)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      // A tab that polls for days would else keep a listener for each pause.
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
