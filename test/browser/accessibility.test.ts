import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../repository.js'
import { accessibilityFaults } from './axe.js'
import { longConfig } from './configs.js'
import { stores } from './served.js'
import { site } from './site.js'

/** The paths of all pages, read from the list of the dashboard. Parameters are replaced by names that exist. */
const paths = [
  ...readFileSync(join(root, 'dashboard/src/pages/index.ts'), 'utf8').matchAll(/path: '([^']+)'/g),
].map(([, path = '']) => path)

const inCampaign = [
  { theme: 'light', width: 1280, axe: true },
  { theme: 'dark', width: 1920, axe: true },
  { theme: 'light', width: 1920, axe: true },
] as const

/**
 * Themes and widths: each theme and each width, and both themes at the smallest one. Colours do not depend on the width, and
 * the layout does not depend on the theme; only the campaign tries all pairs. From 1280 px on, elements only get wider, so
 * axe would find nothing else. Postgres gets one look, because the page does not depend on the store.
 */
const looks = {
  sqlite: [
    { theme: 'light', width: 360, axe: true },
    { theme: 'dark', width: 360, axe: true },
    { theme: 'dark', width: 1280, axe: true },
    { theme: 'light', width: 1920, axe: false },
    ...(process.env['ALL_LOOKS'] === undefined ? [] : inCampaign),
  ],
  postgres: [
    { theme: 'dark', width: 360, axe: false },
    { theme: 'light', width: 1280, axe: true },
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

  it.each(paths)('%s passes axe in all themes and widths, and nothing overflows', async (path) => {
    const filled = path.replace(':id', failedId).replace(':name', 'every-minute')
    const page = await browser.open(`${served.url}/#${filled}`)
    await page.locator('#content h1').first().waitFor({ state: 'attached' })
    await page.waitForTimeout(500)
    const colours: Record<string, string> = {}
    for (const { theme, width, axe } of looks[store]) {
      const look = `in ${theme} at ${width} px`
      await page.emulateMedia({ colorScheme: theme })
      await page.setViewportSize({ width, height: 800 })
      await page.waitForTimeout(100)
      colours[theme] = await page.evaluate<string>('getComputedStyle(document.body).color')
      if (axe) expect(await accessibilityFaults(page), look).toEqual([])
      const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
      expect(isWide, look).toBe(false)
      expect(await page.evaluate<readonly string[]>(wideTables), look).toEqual([])
    }
    // The themes really differ.
    expect(colours['dark']).not.toBe(colours['light'])
    expect(browser.troubles).toEqual([])
    await page.close()
  })
})

/**
 * Finds tables that are wider than their container. It is text because it runs in the page. The table of days in the
 * ledger is left out: it scrolls, with up to 90 days.
 */
const wideTables = `[...document.querySelectorAll('main table:not([class*=heat])')]
  .filter(({ parentElement }) => parentElement.scrollWidth > parentElement.clientWidth + 1)
  .map(({ textContent }) => textContent.slice(0, 80))`

it('the list of pages was read', () => {
  expect(paths).toContain('/')
  expect(paths).toContain('/runs/:id')
})
