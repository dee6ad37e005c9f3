/** Lets callers wait until a condition is true. */
export class Changes {
  readonly #waiters = new Set<() => void>()

  /** Resolves when the condition is true, or when `over` aborts; checked again after every change. */
  async until(isTrue: () => boolean, over: AbortSignal): Promise<void> {
    while (!isTrue() && !over.aborted) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          this.#waiters.delete(go)
          over.removeEventListener('abort', go)
          resolve()
        }
        this.#waiters.add(go)
        over.addEventListener('abort', go)
      })
    }
  }

  /** Makes all waiting callers check their conditions. */
  tell(): void {
    for (const go of this.#waiters) go()
  }
}
