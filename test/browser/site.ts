import { afterAll, beforeAll } from 'vitest'
import { Browser, type WindowOptions } from './chromium.js'
import { ServedRota, type ServedOptions } from './served.js'

/** The real program and a real browser for the tests of a file or of a `describe`: started before them, ended after them. */
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
