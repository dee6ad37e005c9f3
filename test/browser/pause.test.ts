import { describe, expect, it, vi } from 'vitest'
import { accessibilityFaults } from './axe.js'
import { stores } from './served.js'
import { site } from './site.js'

const config = `
jobs:
  greet: { command: ['true'] }
triggers:
  tick: { job: greet, cron: '*/2 * * * * *', catchUp: { mode: all, maxRuns: 50 } }
  tock: { job: greet, cron: '0 3 * * *' }
`

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config })

  it('a pause records who, why and until when; resuming shows the held due times and catches them up', async () => {
    const page = await browser.open(`${served.url}/#/triggers/tick`)
    await page.getByRole('button', { name: 'Pause…' }).click()
    const pause = page.getByRole('dialog', { name: 'Pause tick?' })
    await pause.getByText('The first ones that will be held back:').waitFor()
    await pause.getByLabel('in 4 hours').check()
    await pause.getByLabel('Reason').fill('db upgrade')
    expect(await accessibilityFaults(page)).toEqual([])
    await pause.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('Paused tick.').waitFor()
    await page.locator('header').getByText('paused', { exact: true }).waitFor()
    await page.getByText(/^Paused by local since .*until .*db upgrade$/).waitFor()

    const { items } = await served.client('GET /holds')
    const hold = items.find(({ target }) => target === 'trigger:tick')
    expect(hold).toMatchObject({ note: 'db upgrade' })
    expect(Date.parse(hold?.untilAt ?? '') - Date.now()).toBeGreaterThan(3.9 * 3_600_000)

    const held = await vi.waitFor(
      async () => {
        const query = { trigger: 'tick', from: hold?.fromAt ?? '', until: new Date().toISOString() }
        const { explanations } = await served.client('GET /why', { query })
        const [range] = explanations.flatMap((one) => (one.kind === 'held' ? [one] : []))
        if (range === undefined || range.firstAt === range.lastAt)
          throw new Error('two instants are not held yet')
        return range
      },
      { timeout: 20_000, interval: 200 },
    )
    await page.getByRole('tab', { name: 'Holds' }).click()
    await page.getByRole('cell', { name: 'db upgrade' }).waitFor()

    await page.getByRole('button', { name: 'Resume…' }).click()
    const resume = page.getByRole('dialog', { name: 'Resume tick?' })
    await resume.getByText('db upgrade').waitFor()
    await resume.getByText(/Due times held back: .* to /).waitFor()
    await resume.getByLabel(/is caught up/).check()
    await resume.getByRole('button', { name: 'Resume', exact: true }).click()
    await page.getByText('Resumed tick.').waitFor()

    // The due times that were held back have run.
    await vi.waitFor(
      async () => {
        const runs = await served.client('GET /runs', { query: { trigger: 'tick', limit: 100 } })
        const due = runs.items.map(({ dueAt }) => Date.parse(dueAt))
        const [first, last] = [Date.parse(held.firstAt), Date.parse(held.lastAt)]
        expect(due.filter((at) => at >= first && at <= last).length).toBeGreaterThan(0)
      },
      { timeout: 20_000, interval: 200 },
    )
    expect(browser.troubles).toEqual([])
  }, 90_000)

  it('without catch-up the held due times stay skipped, and the ledger says why', async () => {
    await served.client('POST /triggers/{name}/pause', { path: { name: 'tick' }, body: { reason: 'again' } })
    const page = await browser.open(`${served.url}/#/triggers/tick`)
    await page.waitForTimeout(4500)
    await page.getByRole('button', { name: 'Resume…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume', exact: true }).click()
    await page.getByText('Resumed tick.').waitFor()
    // The undo restores the pause; then it is resumed again.
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    const { items } = await served.client('GET /holds')
    expect(items.filter(({ target }) => target === 'trigger:tick')).toMatchObject([{ note: 'again' }])
    await served.client('POST /triggers/{name}/resume', { path: { name: 'tick' } })
    const row = page.getByRole('row').filter({ hasText: 'again' }).filter({ hasText: 'paused' })
    await row.first().getByRole('button', { name: 'Why of tick' }).click()
    await page.getByRole('dialog').getByText('again').first().waitFor()
  }, 60_000)

  it('several triggers are paused from the list with one reason, and the pause is undone', async () => {
    const page = await browser.open(`${served.url}/#/triggers`)
    await page.getByLabel('Select tick').check()
    await page.getByLabel('Select tock').click({ modifiers: ['Shift'] })
    await page.getByText('2 selected').waitFor()
    await page.getByRole('button', { name: 'Pause…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pause 2 triggers?' })
    await dialog.getByLabel('Reason').fill('move')
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('Paused 2 triggers.').waitFor()
    const held = async (): Promise<readonly string[]> =>
      (await served.client('GET /holds')).items
        .filter(({ note }) => note === 'move')
        .map(({ target }) => target)
    expect((await held()).toSorted()).toEqual(['trigger:tick', 'trigger:tock'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await vi.waitFor(async () => expect(await held()).toEqual([]), { timeout: 10_000, interval: 100 })
  }, 60_000)
})
