import { beforeAll, describe, expect, it } from 'vitest'
import { accessibilityFaults } from './axe.js'
import { stores } from './served.js'
import { site } from './site.js'

const config = `
jobs:
  report: { command: ['true'] }
triggers:
  owned: { job: report, cron: '0 4 * * *' }
`

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config, window: { zone: 'Europe/Berlin' } })

  beforeAll(async () => {
    await served.client('POST /triggers', {
      body: { triggers: { nightly: { job: 'report', cron: '0 1 * * *', timezone: 'Europe/Berlin' } } },
    })
  }, 60_000)

  it('an edit across a clock change marks it, lists the difference, and is refused if the definition is stale', async () => {
    const page = await browser.open(`${served.url}/#/triggers/nightly`)
    await page.getByText('At 01:00').waitFor()
    await page.getByRole('button', { name: 'Edit…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit nightly' })
    await dialog.getByText('Nothing is changed yet.').waitFor()
    await dialog.getByLabel('Cron expression').fill('30 2 * * *')
    await dialog.getByText('At 02:30').waitFor()
    await dialog.getByText(/02:30 does not exist, because clocks go forward; it runs at the change/).waitFor()
    await dialog.getByText(/\d+\+? move within a year/).waitFor()
    await dialog.getByText(/All triggers, next 7 days: \d+ → \d+ due\. Busiest minute:/).waitFor()
    // The zone is unchanged: the next due times are at 02:30 in Berlin.
    await dialog
      .getByText(/ 02:30:00/)
      .first()
      .waitFor()
    expect(await accessibilityFaults(page)).toEqual([])

    // Another user saves first.
    await served.client('PATCH /triggers/{name}', {
      path: { name: 'nightly' },
      body: { options: { overlap: 'allow' }, reason: 'faster' },
    })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Somebody else has changed this trigger since you opened it.').waitFor()
    const kept = await served.client('GET /triggers/{name}', { path: { name: 'nightly' } })
    expect(kept.schedule['expression']).toBe('0 1 * * *')

    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Edit…' }).click()
    await dialog.getByLabel('Cron expression').fill('30 2 * * *')
    await dialog.getByText(/\d+\+? move within a year/).waitFor()
    await dialog.getByLabel('Reason').fill('after the import')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved nightly.').waitFor()
    await page.getByText('At 02:30').waitFor()
    const now = await served.client('GET /triggers/{name}', { path: { name: 'nightly' } })
    expect(now).toMatchObject({
      overlap: 'allow',
      schedule: { expression: '30 2 * * *', timezone: 'Europe/Berlin' },
    })
    expect(browser.troubles).toEqual([])
  }, 60_000)

  it('an invalid expression shows an error, and nothing is saved', async () => {
    const page = await browser.open(`${served.url}/#/triggers/nightly`)
    await page.getByRole('button', { name: 'Edit…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit nightly' })
    await dialog.getByLabel('Cron expression').fill('99 2 * * *')
    await dialog.getByRole('alert').first().waitFor()
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await page.keyboard.press('Enter')
    const kept = await served.client('GET /triggers/{name}', { path: { name: 'nightly' } })
    expect(kept.schedule['expression']).not.toBe('99 2 * * *')
  })

  it('a trigger from a config says where to change it', async () => {
    const page = await browser.open(`${served.url}/#/triggers/owned`)
    const button = page.getByRole('button', { name: /^Edit…/ })
    await button.waitFor()
    expect(await button.getAttribute('aria-disabled')).toBe('true')
    expect(await button.getAttribute('title')).toContain('Change the config file')
  })
})
