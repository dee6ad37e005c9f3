import type { Caller, Route } from '../wire/route.js'
import type { Answer, PlainAnswer } from './answer.js'

/** What a cache needs of a store and a clock. */
export interface AnswerCacheOptions {
  /** Another value after every change of the store. */
  readonly version: () => unknown
  readonly monotonicMs: () => number
}

/** What an answer says of the time, such as how late a run is, may be this old. */
const keptMs = 250

const mostAnswers = 200
const mostCharacters = 256 * 1024

/**
 * Gives the same answer to all who ask the same while the store has not changed: every change makes all open pages ask at
 * once. An answer never says less than what was committed when it was asked for.
 */
export class AnswerCache {
  readonly #options: AnswerCacheOptions
  readonly #known = new Map<string, { readonly answer: PlainAnswer; readonly atMs: number }>()
  #version: unknown

  constructor(options: AnswerCacheOptions) {
    this.#options = options
  }

  async answer(
    { request, caller, route }: { request: Request; caller: Caller; route: Pick<Route, 'isStream'> },
    make: () => Promise<Answer>,
  ): Promise<Answer> {
    if (request.method !== 'GET' || route.isStream === true || request.headers.has('if-match')) return make()
    const { version, monotonicMs } = this.#options
    const before = version()
    if (before !== this.#version) this.#known.clear()
    this.#version = before
    const key = `${caller.role} ${caller.actor} ${request.url}`
    const known = this.#known.get(key)
    if (known !== undefined && monotonicMs() - known.atMs < keptMs) return known.answer
    const atMs = monotonicMs()
    const answer = await make()
    const isWhole = !(answer instanceof Response) && answer.body.length <= mostCharacters
    if (isWhole && version() === before && this.#version === before) {
      if (this.#known.size >= mostAnswers) this.#known.clear()
      this.#known.set(key, { answer, atMs })
    }
    return answer
  }
}
