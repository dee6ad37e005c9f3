import type { Caller, Route } from '../wire/route.js'
import type { Answer } from './answer.js'
import type { StoreVersion, StoreVersionOptions } from './store-version.js'

/** What an answer says of the time, such as how late a run is, may be this old. */
const keptMs = 250

/**
 * How soon the same question is answered again after a change: as often as this, and so that one question uses a tenth of
 * a core at most. Whoever asks for something expensive again and again waits, but not longer than the limit.
 */
const paceMs = 25
const paceShare = 10
const longestPaceMs = 500

const mostAnswers = 200
const mostCharacters = 256 * 1024

/** The answers to one question. */
interface Line {
  /** The newest answer that is kept, which may still be in the making. */
  known: KnownAnswer | undefined
  /** When the next answer may be begun. */
  nextMs: number
  /** The answer that is not begun yet: whoever asks until then gets it. */
  next: Promise<Answer> | undefined
}

interface KnownAnswer {
  readonly answer: Promise<Answer>
  /** The version of the store when it was begun, or an earlier one. */
  readonly version: unknown
  /** Infinity while it is being made. */
  untilMs: number
}

/**
 * Gives the same answer to all who ask the same: every change makes all open pages ask at once. An answer never says
 * less than what was committed when it was asked for. So it is given again while the store has not changed, and shared
 * by all who asked before it was begun.
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
    // What nobody has asked before needs no look.
    const version = line.known === undefined ? undefined : await this.#version.lookFor(request)
    const shared = this.#knownAt(version, line) ?? line.next
    if (shared === undefined) return await (line.next = this.#begin(line, make))
    const answer = await shared
    // A Response can be read once only.
    return answer instanceof Response ? make() : answer
  }

  /** The newest answer, if nothing was committed after it was begun. */
  #knownAt(version: unknown, { known }: Line): Promise<Answer> | undefined {
    if (known === undefined || known.version === undefined || known.version !== version) return undefined
    return this.#clock.monotonicMs() < known.untilMs ? known.answer : undefined
  }

  /** Makes one answer at a time, and not more often than the pace, for all who wait for it. */
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
    // A line that somebody waits in goes on without its place here.
    if (this.#lines.size >= mostAnswers && oldest !== undefined) this.#lines.delete(oldest)
    const line: Line = { known: undefined, nextMs: -Infinity, next: undefined }
    this.#lines.set(key, line)
    return line
  }
}

function paceOf(tookMs: number): number {
  return Math.min(Math.max(paceMs, paceShare * tookMs), longestPaceMs)
}
