/** A run that this process claimed and whose end touches nothing but its own row and its slots. */
export interface KnownClaim {
  readonly seq: number
  readonly job: string
  /** Its concurrency slots as they stand in its row. */
  readonly gates: string | null
}

/** How many claims are remembered; older ones are looked up. */
const maxRemembered = 100_000

/** The plain claims of this process, which save looking up their runs when they end. */
export class KnownClaims {
  readonly #known = new Map<string, KnownClaim>()

  remember(run: string, claim: KnownClaim): void {
    // A claim that somebody else ended is never taken out again, so the oldest ones make room.
    if (this.#known.size >= maxRemembered) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest)
        break
      }
    }
    this.#known.set(run, claim)
  }

  /** What is remembered of a claim, which is then forgotten: it ends once. */
  take(run: string): KnownClaim | undefined {
    const claim = this.#known.get(run)
    if (claim !== undefined) this.#known.delete(run)
    return claim
  }

  clear(): void {
    this.#known.clear()
  }
}
