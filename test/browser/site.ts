import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
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
  // A tab that is opened before all tests belongs to all of them.
  let shared: readonly Page[] = []
  beforeEach(() => void (shared = browser.tabs))
  afterEach(async () => await browser.closeTabs(shared))
  afterAll(async () => {
    await browser.close()
    await served.close()
  })
  return { served, browser }
}
