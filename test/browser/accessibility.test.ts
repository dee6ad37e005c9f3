import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../repository.js'
import { accessibilityFaults } from './axe.js'
import { longConfig } from './configs.js'
import { stores } from './served.js'
import { site } from './site.js'

/** Every page of the dashboard, from its own list; parts of a path get a value that is there. */
const paths = [
  ...readFileSync(join(root, 'dashboard/src/pages/index.ts'), 'utf8').matchAll(/path: '([^']+)'/g),
].map(([, path = '']) => path)

/** How the pages look; on the second store only the extremes, since the looks do not depend on the store. */
const looks = {
  sqlite: [
    { theme: 'light', width: 1280 },
    { theme: 'dark', width: 1280 },
    { theme: 'light', width: 360 },
    { theme: 'dark', width: 360 },
    { theme: 'light', width: 1920 },
    { theme: 'dark', width: 1920 },
  ],
  postgres: [
    { theme: 'dark', width: 360 },
    { theme: 'light', width: 1920 },
  ],
} as const

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config: longConfig })
  let failedId: string

  beforeAll(async () => {
    const { id } = await served.client('POST /runs', { body: { job: 'broken' } })
    failedId = id
    await served.until(id, 'failed')
  }, 60_000)

  it.each(paths)(
    '%s has no fault that a machine can find in any look, and no part of it is cut',
    async (path) => {
      const filled = path.replace(':id', failedId).replace(':name', 'every-minute')
      const page = await browser.open(`${served.url}/#${filled}`)
      await page.locator('#content h1').first().waitFor({ state: 'attached' })
      await page.waitForTimeout(500)
      const colours: Record<string, string> = {}
      for (const { theme, width } of looks[store]) {
        const look = `in ${theme} at ${width} px`
        await page.emulateMedia({ colorScheme: theme })
        await page.setViewportSize({ width, height: 800 })
        await page.waitForTimeout(100)
        colours[theme] = await page.evaluate<string>('getComputedStyle(document.body).color')
        expect(await accessibilityFaults(page), look).toEqual([])
        const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
        expect(isWide, look).toBe(false)
        expect(await page.evaluate<readonly string[]>(wideTables), look).toEqual([])
      }
      // The looks really differ.
      expect(colours['dark']).not.toBe(colours['light'])
      expect(browser.troubles).toEqual([])
      await page.close()
    },
  )
})

/**
 * The tables whose rows are wider than their place; as a text, because it runs in the page. The days of the ledger scroll:
 * there are up to 90.
 */
const wideTables = `[...document.querySelectorAll('main table:not([class*=heat])')]
  .filter(({ parentElement }) => parentElement.scrollWidth > parentElement.clientWidth + 1)
  .map(({ textContent }) => textContent.slice(0, 80))`

it('the list of pages was read', () => {
  expect(paths).toContain('/')
  expect(paths).toContain('/runs/:id')
})
