import type { Page } from 'playwright-core'

/**
 * Watches for a text in the page itself, from now on, so that the time of the test is not part of what is measured.
 * The answer waits for the text, and gives the instant at which it was there by the clock of this machine.
 */
export async function watchFor(page: Page, text: string): Promise<() => Promise<number>> {
  // As text, because it runs in the page. It must not be awaited here: hence `void`.
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

/** The page gives up then. */
const longestMs = 15_000

/**
 * Measures until it took less than a limit, at most three times, and gives the shortest time: on a machine that does
 * other things too, one measurement may have their time in it.
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
