import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../repository.js'
import { accessibilityFaults } from './axe.js'
import { Browser } from './chromium.js'
import { longConfig } from './configs.js'
import { ServedRota } from './served.js'

/** Every page of the dashboard, from its own list; parts of a path get a value that is there. */
const paths = [
  ...readFileSync(join(root, 'dashboard/src/pages/index.ts'), 'utf8').matchAll(/path: '([^']+)'/g),
].map(([, path = '']) => path)

const looks = [
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: 1280 },
  { theme: 'light', width: 360 },
  { theme: 'dark', width: 360 },
  { theme: 'light', width: 1920 },
] as const

let served: ServedRota
let failedId: string

beforeAll(async () => {
  served = await ServedRota.start({ config: longConfig })
  const { id } = await served.client('POST /runs', { body: { job: 'broken' } })
  failedId = id
  await served.until(id, 'failed')
}, 120_000)

afterAll(async () => await served.close())

describe.each(looks)('in $theme at $width px', ({ theme, width }) => {
  let browser: Browser

  beforeAll(async () => {
    browser = await Browser.start({ theme, width })
  })

  afterAll(async () => await browser.close())

  it.each(paths)('%s has no fault that a machine can find, and no part of it is cut', async (path) => {
    const filled = path.replace(':id', failedId).replace(':name', 'every-minute')
    const page = await browser.open(`${served.url}/#${filled}`)
    await page.locator('#content h1').first().waitFor({ state: 'attached' })
    await page.waitForTimeout(500)
    expect(await accessibilityFaults(page)).toEqual([])
    const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
    expect(isWide).toBe(false)
    expect(await page.evaluate<readonly string[]>(wideTables)).toEqual([])
    expect(browser.troubles).toEqual([])
    await page.close()
  })
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
