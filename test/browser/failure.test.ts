import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { accessibilityFaults } from './axe.js'
import { stores } from './served.js'
import { site } from './site.js'

const config = `
jobs:
  invoice:
    # Fails until the file is there.
    command: [sh, -c, 'test -f fixed || { echo ECONNREFUSED 10.0.0.7:25 >&2; exit 1; }']
  slow: { command: [sleep, '600'] }
triggers:
  invoice-mail: { job: invoice, cron: '0 5 * * *' }
`

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config })

  it('a failed run is on the first page within a second, is explained, retried by keyboard alone, and leaves', async () => {
    const page = await browser.open(served.url)
    await page.getByText('Nothing needs you.').waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    const { id } = await served.client('POST /triggers/{name}/run', { path: { name: 'invoice-mail' } })
    await served.until(id, 'failed')
    const failedAt = Date.now()
    const needs = page.getByRole('region', { name: 'Needs you' })
    await needs.getByText('ECONNREFUSED 10.0.0.7:25').waitFor({ timeout: 5000 })
    // A second for the page, and as much again for a machine that does other things too.
    expect(Date.now() - failedAt).toBeLessThan(2000)

    // Why, by keyboard: the focus goes to the button, and comes back to it.
    const why = needs.getByRole('button', { name: 'Why of invoice-mail' })
    await why.focus()
    await page.keyboard.press('Enter')
    const panel = page.getByRole('dialog')
    await panel.getByText('It ran and failed').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })

    // Fix it, then retry from the page of the run.
    writeFileSync(join(served.directory, 'fixed'), '')
    await needs.getByRole('link', { name: 'invoice-mail' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'invoice-mail' }).waitFor()
    await page.keyboard.press('Shift+R')
    const dialog = page.getByRole('dialog', { name: 'Retry this run?' })
    await dialog.getByLabel('Reason').focus()
    await page.keyboard.type('the mail server is back')
    await page.keyboard.press('Enter')
    await page.getByText('The run is pending again.').waitFor()
    await page.locator('header').getByText('done', { exact: true }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('n')
    await page.getByText('Nothing needs you.').waitFor()
    expect(browser.troubles).toEqual([])
  })

  it('what runs says for how long, and counts on', async () => {
    const { id } = await served.client('POST /runs', { body: { job: 'slow' } })
    await served.until(id, 'running')
    const page = await browser.open(served.url)
    const running = page.getByRole('region', { name: 'Running' })
    await running.getByText(/^[1-9]\S* s$/).waitFor()
    await served.client('POST /runs/{id}/cancel', { path: { id } })
  })

  it('a freeze in one tab is seen in another within a second, and thawed there', async () => {
    const page = await browser.open(served.url)
    await page.getByText('live', { exact: true }).waitFor()
    const settings = await browser.open(`${served.url}/#/settings`)
    await settings.getByRole('button', { name: 'Freeze…' }).click()
    const dialog = settings.getByRole('dialog', { name: 'Freeze everything?' })
    await dialog.getByLabel('Reason').fill('db upgrade')
    await dialog.getByRole('button', { name: 'Freeze', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    const frozenAt = Date.now()
    await page.bringToFront()
    await page.getByText('db upgrade').waitFor({ timeout: 5000 })
    expect(Date.now() - frozenAt).toBeLessThan(2000)
    const other = await browser.open(served.url)
    await other.getByRole('button', { name: 'Thaw…' }).click()
    await other.getByRole('dialog').getByRole('button', { name: 'Thaw' }).click()
    // Tabs in the background read nothing; this one does when it is in front again.
    await page.bringToFront()
    await page.getByText('db upgrade').waitFor({ state: 'detached' })
    // The undo freezes as before.
    await other.bringToFront()
    await other.getByRole('button', { name: 'Undo' }).click()
    await other.getByText('Undone.').waitFor()
    await other.getByText('db upgrade').waitFor()
    await other.getByText('until somebody thaws it').waitFor()
    await served.client('POST /thaw')
    expect((await served.client('GET /holds')).items.filter(({ untilAt }) => untilAt === null)).toEqual([])
  })
})
