import { afterAll, beforeAll } from 'vitest'
import { Browser, type WindowOptions } from './chromium.js'
import { ServedRota, type ServedOptions } from './served.js'

/** Starts the program and a browser before the tests of a file or `describe`, and stops them afterwards. */
export function site({ window, ...options }: ServedOptions & { readonly window?: WindowOptions }): {
  readonly served: ServedRota
  readonly browser: Browser
} {
  const served = new ServedRota(options)
  const browser = new Browser(window)
  beforeAll(async () => {
    await served.start()
    await browser.start()
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    await served.close()
  })
  return { served, browser }
}
