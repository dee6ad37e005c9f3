import { describe, expect, it } from 'vitest'
import { accessibilityFaults } from './axe.js'
import { selectLane } from './select-lane.js'
import { stores } from './served.js'
import { shownTimes } from './shown-times.js'
import { site } from './site.js'

const config = `
lease: 2s
jobs:
  report: { command: [sh, -c, 'exit 0'] }
triggers:
  nightly: { job: report, every: 3s, catchUp: { mode: skip, grace: 1s } }
`

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config })

  it('due times during a downtime are shown as missed with their rule, and coverage has 0 unexplained', async () => {
    const page = await browser.open(`${served.url}/#/timeline?range=1h`)
    await page.getByRole('application', { name: 'Lanes of triggers over time' }).waitFor()
    await expect
      .poll(async () => (await served.client('GET /runs')).items.length, { timeout: 20_000 })
      .toBeGreaterThan(1)
    await served.kill()
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    await served.up()
    const ledger = async () => (await served.client('GET /ledger', { query: { reason: 'missed' } })).items
    await expect.poll(async () => (await ledger()).length, { timeout: 20_000 }).toBeGreaterThan(0)
    const [range] = await ledger()

    // Dismiss removes it from the first page; undo restores it.
    await page.goto(served.url)
    const needs = page.getByRole('region', { name: 'Needs you' })
    await needs.getByRole('button', { name: 'Dismiss' }).click()
    const row = needs.getByRole('link', { name: 'nightly' })
    await row.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    await row.waitFor()

    // The arrow keys find it on its lane of the timeline.
    await page.goto(`${served.url}/#/timeline?range=120s&q=mark:missed`)
    const plot = page.getByRole('application', { name: 'Lanes of triggers over time' })
    await plot.focus()
    const said = page.getByRole('status').filter({ hasText: 'nightly, ' })
    await expect
      .poll(
        async () => {
          await page.keyboard.press('ArrowLeft')
          return (await said.allTextContents()).join()
        },
        { timeout: 20_000 },
      )
      .toContain('missed')
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Enter')
    const panel = page.getByRole('dialog', { name: 'Why: nightly' })
    await panel.getByText('catch-up:skip').first().waitFor()
    const shown = (await shownTimes(panel)).map(([iso]) => iso)
    expect(shown).toContain(range?.firstAt)
    await page.keyboard.press('Escape')

    // The table shows it too.
    await page.getByRole('button', { name: 'Table' }).click()
    await page.getByRole('table', { name: 'What is on the timeline' }).getByText('missed').first().waitFor()
    expect(await accessibilityFaults(page)).toEqual([])

    // The ledger proves that nothing is unexplained.
    await page.goto(`${served.url}/#/ledger`)
    await page.getByText('0unexplained✓').waitFor()
    await page
      .getByRole('region', { name: 'Reasons' })
      .getByRole('button', { name: /missed/ })
      .click()
    const ranges = page.getByRole('table', { name: 'Newest ranges' })
    await ranges.getByText('catch-up:skip').first().waitFor()
    expect(new URL(page.url()).hash).toContain('q=reason:missed')
    expect(await accessibilityFaults(page)).toEqual([])
    expect(browser.troubles).toEqual([])
    await page.close()
  })

  it('a selection on the timeline is explained, and its missed due times are backfilled', async () => {
    const missed = async () => {
      const { items } = await served.client('GET /ledger', { query: { reason: 'missed' } })
      return { from: items.at(-1)?.firstAt ?? '', to: items[0]?.lastAt ?? '' }
    }
    const body = { ...(await missed()), dryRun: true }
    const { run } = await served.client('POST /triggers/{name}/backfills', {
      path: { name: 'nightly' },
      body,
    })
    const count = run.length
    expect(count).toBeGreaterThan(1)
    const page = await browser.open(`${served.url}/#/timeline?range=10m`)
    const bar = page.getByRole('region', { name: 'Selection' })
    await selectLane(page, 'nightly')
    await bar.getByText(/\d missed/).waitFor()

    await bar.getByRole('button', { name: 'Why' }).click()
    const panel = page.getByRole('dialog', { name: 'Why: nightly' })
    await panel.getByText('It did not run').first().waitFor()
    await panel.getByText('It ran').first().waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })

    await bar.getByRole('button', { name: 'Backfill…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Backfill nightly' })
    // A busy machine may have missed more of them since.
    const planned = Number.parseInt(await dialog.getByText(/^\d+ to run$/).innerText(), 10)
    expect(planned).toBeGreaterThanOrEqual(count)
    await dialog.getByLabel('Reason').fill('the machine was down')
    await dialog.getByRole('button', { name: `Start ${planned}`, exact: true }).click()
    await page.getByText(`Started a backfill of ${planned} due times.`).waitFor()
    await expect
      .poll(async () => (await served.client('GET /backfills')).items[0]?.done, { timeout: 20_000 })
      .toBe(planned)
    expect(browser.troubles).toEqual([])
  })
})
