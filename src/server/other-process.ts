/**
 * Two processes that answer requests for each other: reads need only the store, everything else the program itself. A
 * request is sent as a message with its whole body, a long answer as several. The sending process has already checked the
 * request, and sends the caller with it.
 */
import { nextTurn } from '../time/turn.js'
import type { Caller, Connection } from '../wire/route.js'
import { Refusal } from './problem.js'
import { mostBytes } from './read-request.js'

/** Answers some of the requests in another process. */
export interface OtherProcess {
  /** Sends a request there. */
  answer(request: Request, connection: Connection): Promise<Response>
}

/** A request as a message. */
interface Question {
  readonly ask: number
  readonly method: string
  readonly url: string
  readonly headers: readonly [string, string][]
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly peer: string | undefined
  readonly asked: string | undefined
  readonly caller: Caller | undefined
}

/** The end of an answer as a message; without a status, the other process could not answer. */
interface Reply {
  readonly reply: number
  readonly status?: number
  readonly headers: readonly [string, string][]
  readonly body: Uint8Array<ArrayBuffer>
}

/** The next part of the body of an answer. */
interface Part {
  readonly part: number
  readonly body: Uint8Array<ArrayBuffer>
}

/** An answer that has arrived. */
interface Whole {
  readonly parts: readonly Uint8Array<ArrayBuffer>[]
  readonly reply: Reply
}

/** The longest part of an answer in one message: reading a message of megabytes would block the event loop for milliseconds. */
const partBytes = 131_072

/** The channel between the two; messages to an ended process are lost. */
export interface Line {
  hear(listener: (message: unknown) => void): void
  send(message: unknown): void
}

/** Sends requests to the other process, and answers its requests. */
export class Exchange implements OtherProcess {
  readonly #line: Line
  readonly #waiting = new Map<number, (whole: Whole | undefined) => void>()
  /** The parts of answers whose end has not arrived. */
  readonly #parts = new Map<number, Uint8Array<ArrayBuffer>[]>()
  readonly #answering = new Set<Promise<void>>()
  #count = 0

  constructor(line: Line, answer: (request: Request, connection: Connection) => Promise<Response>) {
    this.#line = line
    line.hear((message) => {
      if (isOf<Reply>(message, 'reply')) this.#settle(message.reply, message)
      else if (isOf<Part>(message, 'part')) this.#keep(message)
      else if (isOf<Question>(message, 'ask')) {
        const answering = this.#answer(message, answer).finally(() => this.#answering.delete(answering))
        this.#answering.add(answering)
      }
    })
  }

  /** How many answers are pending. */
  get waiting(): number {
    return this.#waiting.size
  }

  async answer(request: Request, connection: Connection): Promise<Response> {
    const body = await bytesOf(request)
    const { method, url } = request
    const { peer, asked, caller } = connection
    this.#count += 1
    const ask = this.#count
    const whole = await new Promise<Whole | undefined>((resolve) => {
      this.#waiting.set(ask, resolve)
      const question: Question = {
        ask,
        method,
        url,
        headers: [...request.headers],
        body,
        peer,
        asked,
        caller: caller === undefined ? undefined : { actor: caller.actor, role: caller.role },
      }
      this.#line.send(question)
    })
    const { status, headers } = whole?.reply ?? {}
    if (whole === undefined || status === undefined)
      throw new Refusal('NOT_ANSWERED', 'the process that answers such requests has ended')
    return new Response(bodyOf(whole), { status, headers: headers as [string, string][] })
  }

  /** Resolves when all requests to this process are answered. */
  async idle(): Promise<void> {
    await Promise.all(this.#answering)
  }

  /** Rejects all pending answers: the other process has ended. */
  end(): void {
    for (const ask of this.#waiting.keys()) this.#settle(ask, undefined)
  }

  #keep({ part, body }: Part): void {
    const parts = this.#parts.get(part)
    if (parts === undefined) this.#parts.set(part, [body])
    else parts.push(body)
  }

  #settle(ask: number, reply: Reply | undefined): void {
    const parts = this.#parts.get(ask) ?? []
    this.#parts.delete(ask)
    this.#waiting.get(ask)?.(reply === undefined ? undefined : { reply, parts })
    this.#waiting.delete(ask)
  }

  async #answer(
    { ask, method, url, headers, body, ...connection }: Question,
    answer: (request: Request, connection: Connection) => Promise<Response>,
  ): Promise<void> {
    try {
      const given = {
        method,
        headers: headers as [string, string][],
        ...(body === undefined ? {} : { body }),
      }
      const response = await answer(new Request(url, given), connection)
      const bytes = new Uint8Array(await response.arrayBuffer())
      let sent = 0
      for (; bytes.length - sent > partBytes; sent += partBytes) {
        this.#line.send({ part: ask, body: bytes.slice(sent, sent + partBytes) } satisfies Part)
        await nextTurn()
      }
      const { status } = response
      const end: Reply = { reply: ask, status, headers: [...response.headers], body: bytes.slice(sent) }
      this.#line.send(end)
    } catch {
      this.#line.send({ reply: ask, headers: [], body: new Uint8Array() } satisfies Reply)
    }
  }
}

/** The body up to the limit and one byte more, which shows that it is too long. */
async function bytesOf(request: Request): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (request.body === null || request.method === 'GET' || request.method === 'HEAD') return undefined
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      chunks.push(chunk)
      length += chunk.length
      if (length > mostBytes) break
    }
  } catch {
    throw new Refusal('REQUEST_MALFORMED', 'the body could not be read')
  }
  return new Uint8Array(Buffer.concat(chunks).subarray(0, mostBytes + 1))
}

/** The body of an answer; one of several parts is not joined, which would copy megabytes at once. */
function bodyOf({
  parts,
  reply: { body },
}: Whole): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
  if (parts.length === 0) return body.length === 0 ? null : body
  return ReadableStream.from([...parts, body])
}

function isOf<Message>(message: unknown, key: keyof Message): message is Message {
  return typeof message === 'object' && message !== null && key in message
}
