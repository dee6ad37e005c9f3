import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { stores } from './served.js'
import { shownTimes } from './shown-times.js'
import { site } from './site.js'

const config = `
jobs:
  greet: { command: [sh, -c, 'exit 0'] }
triggers:
  new-york: { job: greet, cron: '*/5 * * * *', timezone: America/New_York }
  held: { job: greet, every: 2s }
`
/** A zone that is half an hour off the others. */
const mine = 'Australia/Adelaide'

describe.each(stores)('the zone switch, on %s', (store) => {
  const { served, browser } = site({ store, config, window: { zone: mine } })

  it.each([
    ['mine', mine],
    ['utc', 'UTC'],
    ['trigger', 'America/New_York'],
  ])('with %s all times of the timeline are in one zone', async (choice, zone) => {
    const page = await browser.open(`${served.url}/#/timeline?range=6h&q=new-york&zone=${choice}`)
    await page.getByTitle(zone, { exact: true }).waitFor()
    // Every label of the axis shows the time of its position in the zone.
    const labels = await axisLabels(page)
    expect(labels.length).toBeGreaterThan(3)
    for (const { text, atMs } of labels) expect(text).toBe(clockAt(atMs, zone).slice(0, 5))
    await expectTimes(page, zone)
    await page.getByRole('button', { name: 'Table' }).click()
    // The tiles are loaded one after the other.
    const times = page.getByRole('table', { name: 'What is on the timeline' }).locator('time')
    await expect.poll(async () => await times.count(), { timeout: 20_000 }).toBeGreaterThan(5)
    await expectTimes(page, zone)
    await page.close()
  })

  it('the shortcut changes all times of the ledger, and the address has the zone', async () => {
    // Held due times are recorded when the pause ends.
    const path = { name: 'held' }
    await served.client('POST /triggers/{name}/pause', { path, body: { reason: 'a try' } })
    await new Promise((resolve) => setTimeout(resolve, 5000))
    await served.client('POST /triggers/{name}/resume', { path })
    await expect
      .poll(async () => (await served.client('GET /ledger')).items.length, { timeout: 20_000 })
      .toBeGreaterThan(0)
    const page = await browser.open(`${served.url}/#/ledger?zone=mine`)
    await page.getByRole('table', { name: 'Newest ranges' }).locator('time').first().waitFor()
    expect(await expectTimes(page, mine)).toBeGreaterThan(2)
    await page.keyboard.press('z')
    await page.keyboard.press('z')
    await page.waitForURL(/zone=utc/)
    expect(await expectTimes(page, 'UTC')).toBeGreaterThan(2)
    await page.goBack()
    expect(browser.troubles).toEqual([])
  })
})

/** Checks that every time on the page is shown in the zone, and returns how many there are. */
async function expectTimes(page: Page, zone: string): Promise<number> {
  const times = await shownTimes(page.locator('main'))
  for (const [iso, text] of times) expect(`${iso} ${text}`).toContain(clockAt(Date.parse(iso), zone))
  return times.length
}

async function axisLabels(page: Page): Promise<readonly { text: string; atMs: number }[]> {
  const labels = await page.locator('[data-at]').all()
  const found = await Promise.all(
    labels.map(async (label) => ({
      text: await label.innerText(),
      atMs: Number(await label.getAttribute('data-at')),
    })),
  )
  return found.filter(({ text }) => text !== '')
}

function clockAt(ms: number, zone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  }).format(ms)
}
