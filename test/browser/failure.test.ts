import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shortestMs, watchFor } from './appearance.js'
import { accessibilityFaults } from './axe.js'
import { stores } from './served.js'
import { site } from './site.js'

const config = `
jobs:
  invoice:
    # Fails until the file is there.
    command: [sh, -c, 'test -f fixed || { echo ECONNREFUSED 10.0.0.7:25 of $ROTA_TRIGGER >&2; exit 1; }']
  slow: { command: [sleep, '600'] }
triggers:
  invoice-mail: { job: invoice, cron: '0 5 * * *' }
  order-mail: { job: invoice, cron: '0 5 * * *' }
  report-mail: { job: invoice, cron: '0 5 * * *' }
`
const triggers = ['invoice-mail', 'order-mail', 'report-mail'] as const
/** The longest time until a change is shown. */
const limitMs = 1000

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config })

  it('a failed run is on the first page within a second; it is explained and retried with the keyboard only, and leaves', async () => {
    const page = await browser.open(served.url)
    await page.getByText('Nothing needs you.').waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    const failed: string[] = []
    const tookMs = await shortestMs(limitMs, async (round) => {
      const name = triggers[round] ?? ''
      const shownAt = await watchFor(page, `10.0.0.7:25 of ${name}`)
      const { id } = await served.client('POST /triggers/{name}/run', { path: { name } })
      failed.push(id)
      await served.until(id, 'failed')
      const { finishedAt } = await served.client('GET /runs/{id}', { path: { id } })
      return (await shownAt()) - Date.parse(finishedAt ?? '')
    })
    process.stdout.write(`a failed run is shown after ${tookMs} ms\n`)
    expect(tookMs).toBeLessThan(limitMs)
    const needs = page.getByRole('region', { name: 'Needs you' })
    await needs.getByText('ECONNREFUSED 10.0.0.7:25').first().waitFor()

    // Open and close the why panel with the keyboard.
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
    for (const id of failed.slice(1)) await served.client('POST /runs/{id}/retry', { path: { id } })
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

  it('a running job shows its duration, which keeps counting', async () => {
    const { id } = await served.client('POST /runs', { body: { job: 'slow' } })
    await served.until(id, 'running')
    const page = await browser.open(served.url)
    const running = page.getByRole('region', { name: 'Running' })
    await running.getByText(/^[1-9]\S* s$/).waitFor()
    await served.client('POST /runs/{id}/cancel', { path: { id } })
  })

  it('a freeze in one tab is shown in another within a second, and ended there', async () => {
    const page = await browser.open(served.url)
    await page.getByText('live', { exact: true }).waitFor()
    const settings = await browser.open(`${served.url}/#/settings`)
    const tookMs = await shortestMs(limitMs, async () => {
      await served.client('POST /thaw')
      await page.getByText('db upgrade').waitFor({ state: 'detached' })
      const shownAt = await watchFor(page, 'db upgrade')
      await settings.getByRole('button', { name: 'Freeze…' }).click()
      const dialog = settings.getByRole('dialog', { name: 'Freeze everything?' })
      await dialog.getByLabel('Reason').fill('db upgrade')
      await dialog.getByRole('button', { name: 'Freeze', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      const { items } = await served.client('GET /holds')
      const hold = items.find(({ target, untilAt }) => target === 'all' && untilAt === null)
      return (await shownAt()) - Date.parse(hold?.fromAt ?? '')
    })
    process.stdout.write(`a freeze is shown in another tab after ${tookMs} ms\n`)
    expect(tookMs).toBeLessThan(limitMs)
    const other = await browser.open(served.url)
    await other.getByRole('button', { name: 'Thaw…' }).click()
    await other.getByRole('dialog').getByRole('button', { name: 'Thaw' }).click()
    // Hidden tabs do not read; this one reads when it is visible again.
    await page.bringToFront()
    await page.getByText('db upgrade').waitFor({ state: 'detached' })
    // The undo restores the freeze.
    await other.bringToFront()
    await other.getByRole('button', { name: 'Undo' }).click()
    await other.getByText('Undone.').waitFor()
    await other.getByText('db upgrade').waitFor()
    await other.getByText('until somebody thaws it').waitFor()
    await served.client('POST /thaw')
    expect((await served.client('GET /holds')).items.filter(({ untilAt }) => untilAt === null)).toEqual([])
  })
})
