import { beforeAll, describe, expect, it } from 'vitest'
import { busyConfig } from './configs.js'
import { stores } from './served.js'
import { site } from './site.js'

describe.each(stores)('the address of a page, on %s', (store) => {
  const { served, browser } = site({ store, config: busyConfig, window: { zone: 'Europe/Berlin' } })

  beforeAll(async () => {
    const { id } = await served.client('POST /runs', { body: { job: 'broken' } })
    await served.until(id, 'failed')
    const other = await served.client('POST /runs', { body: { job: 'greet' } })
    await served.until(other.id, 'done')
  }, 60_000)

  it('restores its filter and its zone, and goes back and forward', async () => {
    const page = await browser.open(`${served.url}/#/runs?q=state:failed&zone=utc`)
    const rows = page.locator('tbody tr')
    await rows.first().waitFor()
    expect(await page.getByRole('combobox', { name: 'Filter runs' }).inputValue()).toBe('state:failed')
    expect(await page.getByLabel('Time zone of all times').inputValue()).toBe('utc')
    expect(await rows.count()).toBe(1)
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await page.getByRole('link', { name: 'greet' }).first().waitFor()
    expect(page.url()).toContain('zone=utc')
    await page.goBack()
    await page.getByRole('link', { name: 'greet' }).first().waitFor({ state: 'detached' })
    expect(await page.getByRole('combobox', { name: 'Filter runs' }).inputValue()).toBe('state:failed')
    await page.goForward()
    await page.getByRole('link', { name: 'greet' }).first().waitFor()
    await page.close()
  })

  it('restores the period of the timeline, and goes back to the previous one', async () => {
    const page = await browser.open(`${served.url}/#/timeline?range=6h`)
    const pressed = async (): Promise<readonly string[]> =>
      await page.locator('main [aria-pressed=true]').allInnerTexts()
    await expect.poll(pressed).toContain('6h')
    await page.getByRole('button', { name: '7d', exact: true }).click()
    await expect.poll(pressed).toContain('7d')
    await page.reload()
    await expect.poll(pressed).toContain('7d')
    expect(page.url()).toContain('range=7d')
    await page.goBack()
    await expect.poll(pressed).toContain('6h')
    await page.close()
  })

  it('keeps an invalid filter: the field says what is allowed and stays usable', async () => {
    const page = await browser.open(`${served.url}/#/runs?q=sate:failed`)
    await page.getByText('did you mean state?').waitFor()
    await page.getByRole('combobox', { name: 'Filter runs' }).fill('state:failed')
    await page.keyboard.press('Enter')
    await page.locator('tbody tr').first().waitFor()
    await page.close()
  })

  it('shows the default saved view if it has no filter', async () => {
    const page = await browser.open(`${served.url}/#/runs?q=state:failed job:broken`)
    await page.getByRole('button', { name: 'Save view…' }).click()
    await page.getByLabel('Name').fill('mine')
    await page.getByLabel('Show it when the page opens without a filter').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    const other = await browser.open(`${served.url}/#/runs`)
    await other.locator('tbody tr').first().waitFor()
    expect(await other.getByRole('combobox', { name: 'Filter runs' }).inputValue()).toBe(
      'state:failed job:broken',
    )
    expect(await other.getByRole('button', { name: 'mine', exact: true }).getAttribute('aria-pressed')).toBe(
      'true',
    )
    expect(browser.troubles).toEqual([])
  })
})
