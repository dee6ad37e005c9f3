import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { accessibilityFaults } from './axe.js'
import { stores } from './served.js'
import { site } from './site.js'

const config = `
jobs:
  greet: { command: ['true'] }
triggers:
  tick: { job: greet, every: 1s }
`
const path = { name: 'tick' }

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config })
  /** The range of due times that a pause held back and nothing caught up. */
  let from = ''
  let to = ''

  beforeAll(async () => {
    await served.client('POST /triggers/{name}/pause', { path, body: { reason: 'db upgrade' } })
    const hold = (await served.client('GET /holds')).items[0]
    from = hold?.fromAt ?? ''
    await vi.waitFor(
      async () => {
        const query = { trigger: 'tick', from, until: new Date().toISOString() }
        const { explanations } = await served.client('GET /why', { query })
        const held = explanations.flatMap((one) => (one.kind === 'held' ? [one] : []))
        expect(Date.parse(held.at(-1)?.lastAt ?? from) - Date.parse(from)).toBeGreaterThan(4000)
      },
      { timeout: 30_000, interval: 200 },
    )
    // The trigger is paused during the tests, so that every plan has the same due times.
    to = new Date().toISOString()
    await served.client('POST /triggers/{name}/resume', { path })
    // The held due times are recorded only while the trigger is active.
    await vi.waitFor(async () => expect((await planned({ dryRun: true })).run.length).toBeGreaterThan(3), {
      timeout: 20_000,
      interval: 50,
    })
    await served.client('POST /triggers/{name}/pause', { path, body: { reason: 'for the test' } })
  }, 60_000)

  const planned = async (body: { limit?: number; start?: boolean; dryRun?: boolean }) =>
    await served.client('POST /triggers/{name}/backfills', { path, body: { from, to, ...body } })

  const openDialog = async (page: Page) => {
    await page.getByRole('button', { name: 'Backfill…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Backfill tick' })
    await dialog.getByLabel('From').fill(from)
    await dialog.getByLabel('To, included').fill(to)
    return dialog
  }

  it('starts the backfill that was shown; if it has changed, it is shown again first', async () => {
    const { run } = await planned({ dryRun: true })
    expect(run.length).toBeGreaterThan(3)
    const page = await browser.open(`${served.url}/#/triggers/tick`)
    const dialog = await openDialog(page)
    await dialog.getByText(`${run.length} to run`, { exact: true }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])

    // From now on previews do not return, and another user backfills the first due time.
    await page.route('**/triggers/tick/backfills', async (route) => {
      const { dryRun } = route.request().postDataJSON() as { dryRun?: boolean }
      if (dryRun !== true) await route.continue()
    })
    const other = await planned({ limit: 1, start: true })
    await vi.waitFor(
      async () => {
        const first = other.backfill?.id ?? ''
        const progress = await served.client('GET /backfills/{id}', { path: { id: first } })
        expect(progress.done).toBe(1)
      },
      { timeout: 20_000, interval: 100 },
    )
    await dialog.getByLabel('Reason').fill('the upgrade is over')
    await dialog.getByRole('button', { name: `Start ${run.length}`, exact: true }).click()
    await dialog.getByRole('alert').getByText('what would run has changed').waitFor()
    const [stored] = (await served.client('GET /backfills', { query: { trigger: 'tick' } })).items
    expect(stored).toMatchObject({ state: 'planned', total: run.length - 1 })

    await dialog.getByRole('button', { name: `Start ${run.length - 1}`, exact: true }).click()
    await page.getByText(`Started a backfill of ${run.length - 1} due times.`).waitFor()
    const all = (await served.client('GET /backfills', { query: { trigger: 'tick' } })).items
    expect(all.map(({ id }) => id)).toEqual([stored?.id, other.backfill?.id])
    await page.getByRole('tab', { name: 'Backfills' }).click()
    await page
      .getByRole('row')
      .getByText(`${run.length - 1} done · 0 failed · 0 left`)
      .waitFor({ timeout: 30_000 })
    const audited = (await served.client('GET /audit')).items
    expect(audited.map(({ action, reason }) => [action, reason])).toContainEqual([
      'backfill.start',
      'the upgrade is over',
    ])
    expect(browser.troubles).toEqual([])
  }, 90_000)

  it('a stored plan is started from the list, after a dialog has said what it will do', async () => {
    const { backfill } = await served.client('POST /triggers/{name}/backfills', {
      path,
      body: { from, to, only: 'all', limit: 2 },
    })
    const id = backfill?.id ?? ''
    const page = await browser.open(`${served.url}/#/triggers/tick?tab=backfills`)
    await page.getByRole('button', { name: 'Start…' }).click()
    const dialog = page.getByRole('dialog', { name: `Start the backfill ${id}?` })
    await dialog.getByText('2 runs are recorded').waitFor()
    await dialog.getByLabel('Reason').fill('once more')
    await dialog.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('Started a backfill of 2.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    const { state } = await served.client('GET /backfills/{id}', { path: { id } })
    expect(state).toBe('cancelled')
    expect(browser.troubles).toEqual([])
  }, 60_000)

  it('a range without due times starts nothing, and an invalid range shows an error', async () => {
    const page = await browser.open(`${served.url}/#/triggers/tick`)
    const dialog = await openDialog(page)
    await dialog.getByLabel('Which due times').selectOption('failed')
    await dialog.getByText('Nothing to run.', { exact: true }).waitFor()
    expect(await dialog.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    const wrong = await openDialog(page)
    await wrong.getByLabel('From').fill('the day after')
    await wrong.getByRole('alert').waitFor()
    expect(await wrong.getByRole('button', { name: /^Start/ }).isDisabled()).toBe(true)
  })
})
