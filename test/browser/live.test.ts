import { describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { busyConfig } from './configs.js'
import { stores } from './served.js'
import { site } from './site.js'

/** Waits until a page says that it is live. */
async function live(page: Page): Promise<void> {
  await page.getByText('live', { exact: true }).waitFor({ timeout: 50_000 })
}

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config: busyConfig })

  const failOne = async (): Promise<void> => {
    const { id } = await served.client('POST /runs', { body: { job: 'broken' } })
    await served.until(id, 'failed')
  }

  it('ten tabs share one stream, and miss nothing when the first tab is closed or the server is killed', async () => {
    const pages: Page[] = []
    for (let i = 0; i < 10; i++) pages.push(await browser.open(`${served.url}/#/runs?q=state:failed`))
    const last = pages.at(-1) as Page
    await last.bringToFront()
    await live(last)
    await failOne()
    const rows = last.locator('tbody tr')
    await expect.poll(async () => await rows.count(), { timeout: 50_000 }).toBe(1)

    // The tab with the stream is closed: another one opens it.
    for (const page of pages.slice(0, 5)) await page.close()
    await failOne()
    await expect.poll(async () => await rows.count(), { timeout: 50_000 }).toBe(2)

    // The server is killed and restarted: changes made meanwhile are read.
    await served.kill()
    await last.getByText('Live updates are lost').waitFor({ timeout: 50_000 })
    const other = pages.at(-2) as Page
    await other.bringToFront()
    await other.getByRole('link', { name: 'Ledger' }).click()
    await other.getByText('This page could not be loaded.').waitFor()
    // The old rows stay, and only the banner says that they are old.
    expect(await last.getByRole('alert').count()).toBe(0)
    expect(await rows.count()).toBe(2)
    await served.up()
    await other.getByText('Coverage', { exact: true }).waitFor({ timeout: 50_000 })
    await last.bringToFront()
    await failOne()
    await expect.poll(async () => await rows.count(), { timeout: 50_000 }).toBe(3)
    await last.getByText('Live updates are lost').waitFor({ state: 'detached', timeout: 50_000 })
    for (const page of pages.slice(5)) await page.close()
  })

  it('without a stream the page shows a banner, and polls every ten seconds', async () => {
    const page = await browser.open('about:blank')
    await page.route(
      '**/api/v1/stream',
      async (route) => await route.fulfill({ status: 502, body: 'bad gateway' }),
    )
    await page.goto(`${served.url}/#/runs?q=state:failed`)
    await page.getByText('Live updates are lost').waitFor({ timeout: 50_000 })
    const rows = page.locator('tbody tr')
    await rows.first().waitFor()
    const before = await rows.count()
    await failOne()
    await expect.poll(async () => await rows.count(), { timeout: 25_000 }).toBe(before + 1)
  })
})
