import { describe, expect, it, vi } from 'vitest'
import { accessibilityFaults } from './axe.js'
import { stores } from './served.js'
import { site } from './site.js'

const config = `
assets:
  raw: { partitions: { kind: daily, start: 2026-01-01 }, command: [sleep, '1'] }
  report: { partitions: { kind: daily, start: 2026-01-01 }, deps: [raw], command: ['true'] }
`

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config })

  it('a week is selected by dragging, planned with skipped partitions, started, and cancelled', async () => {
    const path = { name: 'raw' }
    const { items } = await served.client('GET /assets/{name}/partitions', { path, query: { newest: 9 } })
    const week = items.slice(0, 7).map(({ partition }) => partition)
    const [first = '', , third = ''] = week
    const last = week.at(-1) ?? ''
    const made = await served.client('POST /assets/{name}/materialize', { path, body: { partition: third } })
    await served.until(made.id, 'done')

    const page = await browser.open(`${served.url}/#/assets?asset=raw`)
    await page.getByRole('button', { name: `${third}: done` }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: `${first}: missing` }).hover()
    await page.mouse.down()
    await page.getByRole('button', { name: `${third}: done` }).hover()
    await page.getByRole('button', { name: `${last}: missing` }).hover()
    await page.mouse.up()
    await page.getByText(`7 partitions, ${first} to ${last}`).waitFor()

    await page.getByRole('button', { name: 'Plan a backfill…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Backfill raw' })
    await dialog.getByText('6 to make').waitFor()
    await dialog.getByText('1 skipped').waitFor()
    await dialog.getByRole('listitem').filter({ hasText: third }).getByText('done').waitFor()
    await dialog.getByLabel('Running at once').fill('1')
    await dialog.getByLabel('Reason').fill('lost a disk')
    await dialog.getByRole('button', { name: 'Start 6' }).click()
    await page.getByText('Started a backfill of 6 partitions.').waitFor()

    const row = page.getByRole('row').filter({ hasText: `${first} to ${last}` })
    await row.getByText(/[1-6] done/).waitFor()
    await row.getByRole('button', { name: 'Cancel…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the rest' }).click()
    await page.getByText(/Cancelled \d+ runs of the backfill/).waitFor()
    await vi.waitFor(
      async () => {
        const [backfill] = (await served.client('GET /backfills')).items
        expect(backfill).toMatchObject({ state: 'cancelled', total: 6 })
        expect(backfill?.done).toBeLessThan(6)
        const pending = await served.client('GET /runs', { query: { state: 'pending', job: 'raw' } })
        expect(pending.items).toEqual([])
      },
      { timeout: 20_000, interval: 200 },
    )
    expect(browser.troubles).toEqual([])
  }, 90_000)

  it('partitions are selected with the keyboard only', async () => {
    const page = await browser.open(`${served.url}/#/assets?asset=report`)
    const cells = page.getByRole('group', { name: 'Partitions' })
    await cells.locator('[tabindex="0"]').focus()
    await page.keyboard.press('Shift+ArrowLeft')
    await page.keyboard.press('Shift+ArrowLeft')
    await page.getByText(/^3 partitions, /).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText(/^Drag over partitions/).waitFor()
  })
})
