import type { Caller, Route } from '../wire/route.js'
import type { Answer, PlainAnswer } from './answer.js'

/** What a cache needs of a store and a clock. */
export interface AnswerCacheOptions {
  /** Another value after every change of the store; undefined where the store has none that is free. */
  readonly version: (() => unknown) | undefined
  readonly clock: { monotonicMs(): number; sleep(ms: number): Promise<void> }
}

/** What an answer says of the time, such as how late a run is, may be this old. */
const keptMs = 250

/** How soon the same question is answered again by a store without a version. */
const paceMs = 25

const mostAnswers = 200
const mostCharacters = 256 * 1024

/** The answers to one question of a store without a version. */
interface Line {
  beganMs: number
  /** The answer that is being made. */
  current: Promise<unknown> | undefined
  /** The answer that is not begun yet: whoever asks until then gets it. */
  next: Promise<Answer> | undefined
}

/**
 * Gives the same answer to all who ask the same: every change makes all open pages ask at once. An answer never says
 * less than what was committed when it was asked for. So it is given again while the store has not changed; where that
 * cannot be told, it is shared by those who asked before it was begun.
 */
export class AnswerCache {
  readonly #options: AnswerCacheOptions
  readonly #known = new Map<string, { readonly answer: PlainAnswer; readonly atMs: number }>()
  readonly #lines = new Map<string, Line>()
  #version: unknown

  constructor(options: AnswerCacheOptions) {
    this.#options = options
  }

  async answer(
    { request, caller, route }: { request: Request; caller: Caller; route: Pick<Route, 'isStream'> },
    make: () => Promise<Answer>,
  ): Promise<Answer> {
    if (request.method !== 'GET' || route.isStream === true || request.headers.has('if-match')) return make()
    const key = `${caller.role} ${caller.actor} ${request.url}`
    const { version } = this.#options
    return await (version === undefined ? this.#shared(key, make) : this.#unchanged(key, version, make))
  }

  /** Makes an answer again only after the store has changed. */
  async #unchanged(key: string, version: () => unknown, make: () => Promise<Answer>): Promise<Answer> {
    const { clock } = this.#options
    const before = version()
    if (before !== this.#version) this.#known.clear()
    this.#version = before
    const known = this.#known.get(key)
    if (known !== undefined && clock.monotonicMs() - known.atMs < keptMs) return known.answer
    const atMs = clock.monotonicMs()
    const answer = await make()
    const isWhole = !(answer instanceof Response) && answer.body.length <= mostCharacters
    if (isWhole && version() === before && this.#version === before) {
      if (this.#known.size >= mostAnswers) this.#known.clear()
      this.#known.set(key, { answer, atMs })
    }
    return answer
  }

  /** Makes one answer at a time, and not more often than the pace, for all who wait for it. */
  async #shared(key: string, make: () => Promise<Answer>): Promise<Answer> {
    const line = this.#lineOf(key)
    if (line.next !== undefined) {
      const answer = await line.next
      // A Response can be read once only.
      return answer instanceof Response ? make() : answer
    }
    line.next = this.#begin(line, make)
    return await line.next
  }

  async #begin(line: Line, make: () => Promise<Answer>): Promise<Answer> {
    const { clock } = this.#options
    await line.current
    const leftMs = line.beganMs + paceMs - clock.monotonicMs()
    if (leftMs > 0) await clock.sleep(leftMs)
    line.next = undefined
    line.beganMs = clock.monotonicMs()
    const answer = make()
    line.current = answer.catch(() => undefined)
    return await answer
  }

  #lineOf(key: string): Line {
    const known = this.#lines.get(key)
    if (known !== undefined) return known
    // A line that somebody waits in goes on without its place here.
    if (this.#lines.size >= mostAnswers) this.#lines.clear()
    const line: Line = { beganMs: -Infinity, current: undefined, next: undefined }
    this.#lines.set(key, line)
    return line
  }
}
