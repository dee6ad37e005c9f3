import type { Caller, Route } from '../wire/route.js'
import type { Answer } from './answer.js'
import type { StoreVersion, StoreVersionOptions } from './store-version.js'

/** Times in an answer, such as how late a run is, may be this old. */
const keptMs = 250

/**
 * How soon the same answer is computed again after a change: at most this often, and so that one request uses at most a
 * tenth of a core. Repeated requests for an expensive answer wait, but not longer than the limit.
 */
const paceMs = 25
const paceShare = 10
const longestPaceMs = 500

const mostAnswers = 200
const mostCharacters = 256 * 1024

/** The answers to one request. */
interface Line {
  /** The newest answer, which may still be in progress. */
  known: KnownAnswer | undefined
  /** When the next computation may begin. */
  nextMs: number
  /** The next answer: all requests until its computation begins get it. */
  next: Promise<Answer> | undefined
}

interface KnownAnswer {
  readonly answer: Promise<Answer>
  /** The version of the store when its computation began, or an earlier one. */
  readonly version: unknown
  /** Infinity while it is being computed. */
  untilMs: number
}

/**
 * Gives equal requests the same answer: after a change all open pages send the same requests. An answer always includes
 * everything that was committed when its request arrived. So it is reused while the store has not changed, and shared
 * by all requests that arrived before its computation began.
 */
export class AnswerCache {
  readonly #clock: StoreVersionOptions['clock']
  readonly #version: StoreVersion
  readonly #lines = new Map<string, Line>()

  constructor(options: { version: StoreVersion; clock: StoreVersionOptions['clock'] }) {
    this.#clock = options.clock
    this.#version = options.version
  }

  async answer(
    { request, caller, route }: { request: Request; caller: Caller; route: Pick<Route, 'isStream'> },
    make: () => Promise<Answer>,
  ): Promise<Answer> {
    if (request.method !== 'GET' || route.isStream === true || request.headers.has('if-match')) return make()
    const line = this.#lineOf(`${caller.role} ${caller.actor} ${request.url}`)
    // A first request needs no version.
    const version = line.known === undefined ? undefined : await this.#version.lookFor(request)
    const shared = this.#knownAt(version, line) ?? line.next
    if (shared === undefined) return await (line.next = this.#begin(line, make))
    const answer = await shared
    // A Response can be read only once.
    return answer instanceof Response ? make() : answer
  }

  /** The newest answer, if nothing was committed after its computation began. */
  #knownAt(version: unknown, { known }: Line): Promise<Answer> | undefined {
    if (known === undefined || known.version === undefined || known.version !== version) return undefined
    return this.#clock.monotonicMs() < known.untilMs ? known.answer : undefined
  }

  /** Computes one answer at a time, at the pace above, for all waiting requests. */
  async #begin(line: Line, make: () => Promise<Answer>): Promise<Answer> {
    await line.known?.answer.catch(() => undefined)
    const leftMs = line.nextMs - this.#clock.monotonicMs()
    if (leftMs > 0) await this.#clock.sleep(leftMs)
    line.next = undefined
    const beganMs = this.#clock.monotonicMs()
    const version = this.#version.latest
    const known: KnownAnswer = { answer: make(), version, untilMs: Infinity }
    line.known = known
    let isKept = false
    try {
      const answer = await known.answer
      isKept = !(answer instanceof Response) && answer.body.length <= mostCharacters
      return answer
    } finally {
      const endedMs = this.#clock.monotonicMs()
      line.nextMs = beganMs + paceOf(endedMs - beganMs)
      known.untilMs = endedMs + keptMs
      if (!isKept) line.known = undefined
    }
  }

  #lineOf(key: string): Line {
    const known = this.#lines.get(key)
    if (known !== undefined) return known
    const [oldest] = this.#lines.keys()
    // Requests that wait in a dropped line are still answered.
    if (this.#lines.size >= mostAnswers && oldest !== undefined) this.#lines.delete(oldest)
    const line: Line = { known: undefined, nextMs: -Infinity, next: undefined }
    this.#lines.set(key, line)
    return line
  }
}

function paceOf(tookMs: number): number {
  return Math.min(Math.max(paceMs, paceShare * tookMs), longestPaceMs)
}
