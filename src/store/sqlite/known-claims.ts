/** A run that this process claimed and whose end changes only its own row and its slots. */
export interface KnownClaim {
  readonly seq: number
  readonly job: string
  /** Its concurrency slots in the form of its row. */
  readonly gates: string | null
}

/** How many claims are cached; older ones are looked up. */
const maxRemembered = 100_000

/** A cache of the plain claims of this process, which saves looking up their runs when they end. */
export class KnownClaims {
  readonly #known = new Map<string, KnownClaim>()

  remember(run: string, claim: KnownClaim): void {
    // A claim that another process ended is never removed otherwise, so the oldest ones are dropped.
    if (this.#known.size >= maxRemembered) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest)
        break
      }
    }
    this.#known.set(run, claim)
  }

  /** Returns and removes a claim: it ends only once. */
  take(run: string): KnownClaim | undefined {
    const claim = this.#known.get(run)
    if (claim !== undefined) this.#known.delete(run)
    return claim
  }

  clear(): void {
    this.#known.clear()
  }
}
