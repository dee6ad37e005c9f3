import { describe, expect, it, vi } from 'vitest'
import { accessibilityFaults } from './axe.js'
import { stores } from './served.js'
import { site } from './site.js'

const config = `
concurrency: 3
jobs:
  slow: { command: ['true'] }
triggers:
  hourly: { job: slow, cron: '0 * * * *' }
  often: { job: slow, every: 10m, overlap: skip }
`

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config })

  it('simulates the settings of the form, shows a chart and a table, and stores the settings in the address', async () => {
    const page = await browser.open(`${served.url}/#/`)
    await page.locator('#content h1').first().waitFor({ state: 'attached' })
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await page.getByRole('heading', { name: 'Simulate', exact: true }).waitFor()
    await page.getByText('Nothing simulated yet.').waitFor()
    // The form starts with the current number of processes.
    await vi.waitFor(async () => expect(await page.getByLabel('Runs at once, each').inputValue()).toBe('3'))

    await page.getByLabel('Days').fill('0')
    await page.getByText('a whole number from 1 to 366').waitFor()
    await page.getByLabel('Days').fill('2')
    await page.getByLabel('A run without history takes').fill('15m')
    await page.getByLabel('A run without history takes').press('Enter')
    const triggers = page.getByRole('table', { name: 'Triggers, the latest first' })
    const row = triggers.getByRole('row').filter({ hasText: 'often' })
    await row.waitFor({ timeout: 60_000 })
    // A run of 15 minutes has not ended when the next one is due.
    await row.getByText('overlap').waitFor()
    await page.getByRole('img', { name: /runs over time/ }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Show as a table' }).click()
    const load = page.getByRole('table', { name: 'Load by hour' })
    expect(await load.getByRole('row').count()).toBeGreaterThan(48)
    expect(page.url()).toContain('days=2')

    // The result says that it belongs to the previous settings.
    await page.getByLabel('Days').fill('3')
    await page.getByText('This is the result for the settings before your changes.').waitFor()

    // The same address shows the same result.
    const again = await browser.open(page.url())
    await again.getByRole('table', { name: 'Triggers, the latest first' }).waitFor({ timeout: 60_000 })
    expect(browser.troubles).toEqual([])
  }, 180_000)

  it('a simulation can be cancelled, and the server ends it', async () => {
    const page = await browser.open(`${served.url}/#/simulate?days=366&processes=20&crash=1m&run=yes`)
    await page.getByRole('progressbar', { name: 'How far the simulation is' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Nothing simulated yet.').waitFor()
    // At most two run at a time: two more are only accepted if it has ended.
    const ask = (): Promise<unknown> => served.client('GET /simulation', { query: { days: 1 } })
    await vi.waitFor(async () => await Promise.all([ask(), ask()]), { timeout: 30_000, interval: 100 })
    expect(browser.troubles).toEqual([])
  }, 90_000)

  it('invalid settings show why they cannot be simulated', async () => {
    const page = await browser.open(`${served.url}/#/simulate?days=1&crash=1ms&run=yes`)
    await page.getByRole('alert').getByText('from 1m to 732d').waitFor()
    await page.getByRole('alert').getByText('DEFINITION_INVALID').waitFor()
  }, 60_000)
})
