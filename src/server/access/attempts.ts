import type { Instant } from '../../time/instant.js'
import { Refusal } from '../problem.js'

/** How often an address may try to sign in. */
const most = 5
const windowMs = 60_000

/** The most addresses that are remembered; the oldest are dropped first. */
const mostAddresses = 10_000

/** Counts failed sign-in attempts, by address. */
export class SignInAttempts {
  readonly #failed = new Map<string, Instant[]>()

  /** Refuses an address that has failed too often within a minute. */
  check(address: string, now: Instant): void {
    const recent = this.#recent(address, now)
    if (recent.length < most) return
    const seconds = Math.ceil(((recent[0] as Instant) + windowMs - now) / 1000)
    const headers = { 'retry-after': String(seconds) }
    throw new Refusal('TOO_MANY_REQUESTS', `too many wrong tokens; try again in ${seconds} s`, { headers })
  }

  /** Counts a failed attempt. */
  failed(address: string, now: Instant): void {
    const recent = [...this.#recent(address, now), now]
    this.#failed.delete(address)
    this.#failed.set(address, recent)
    if (this.#failed.size <= mostAddresses) return
    const [oldest] = this.#failed.keys()
    this.#failed.delete(oldest as string)
  }

  #recent(address: string, now: Instant): Instant[] {
    return (this.#failed.get(address) ?? []).filter((at) => now - at < windowMs)
  }
}
