import type { Page } from 'playwright-core'

/**
 * Watches a page for a text. The page itself notes the time, so that delays of the test are not measured. The returned
 * function waits for the text and returns when it appeared, in milliseconds of the system clock.
 */
export async function watchFor(page: Page, text: string): Promise<() => Promise<number>> {
  // `void`, because evaluate() would otherwise wait for the promise.
  await page.evaluate(`void (globalThis.appearedAt = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('it did not appear within ${longestMs} ms')), ${longestMs})
    const look = () => {
      if (!document.body.textContent.includes(${JSON.stringify(text)})) return
      observer.disconnect()
      resolve(Date.now())
    }
    const observer = new MutationObserver(look)
    observer.observe(document.body, { subtree: true, childList: true, characterData: true })
    look()
  }))`)
  return async () => await page.evaluate<number>('globalThis.appearedAt')
}

/** How long the page waits for the text. */
const longestMs = 15_000

/**
 * Measures up to three times until the result is below a limit, and returns the shortest time. A single measurement on a
 * busy machine may include the time of other processes.
 */
export async function shortestMs(
  limitMs: number,
  measure: (round: number) => Promise<number>,
): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3 && shortest >= limitMs; round += 1)
    shortest = Math.min(shortest, await measure(round))
  return shortest
}
