import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rota, type Rota } from '../../../app/rota.js'
import { emptyDirectory } from '../../../../test/cli/rota.js'
import { PostgresServer } from '../../../../test/fixtures/postgres.js'
import { Browser } from '../../../../test/browser/chromium.js'
import { stores } from '../../../../test/browser/served.js'

const failing = 500

describe.each(stores)('on %s', (kind) => {
  let postgres: PostgresServer | undefined
  let app: Rota
  let url: string
  const browser = new Browser()

  beforeAll(async () => {
    postgres = kind === 'postgres' ? await PostgresServer.start() : undefined
    const store = (await postgres?.createDatabase()) ?? `sqlite:${join(emptyDirectory(), 'rota.db')}`
    await failMany(store)
    // The process only serves and performs nothing: the test decides how far the bulk gets.
    app = rota({ store })
    url = `http://127.0.0.1:${(await app.listen({ port: 0 })).port}`
    await browser.start()
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await app.close()
    await postgres?.stop()
  })

  it('500 failed runs are retried with a filter: counted first, with progress, abort and audit', async () => {
    const page = await browser.open(`${url}/#/runs`)
    const filter = page.getByRole('combobox', { name: 'Filter runs' })

    // An invalid filter is marked at its position, and completions are suggested.
    await filter.fill('state:failed jbo:mail')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('did you mean job').waitFor()
    expect(await page.locator('u').allInnerTexts()).toEqual(['jbo:mail'])
    await filter.fill('state:failed error:EC')
    await page.getByRole('option', { name: /ECONNREFUSED/ }).click()
    await page.getByText('500 runs', { exact: true }).waitFor()

    // Older and newer pages.
    const first = page.locator('tbody tr code').first()
    const newest = await first.innerText()
    await page.getByRole('button', { name: 'Older →' }).click()
    await expect.poll(async () => await first.innerText()).not.toBe(newest)
    await page.getByRole('button', { name: '← Newer' }).click()
    await expect.poll(async () => await first.innerText()).toBe(newest)

    // The errors in groups lead back to their runs.
    await page.getByRole('button', { name: 'By error' }).click()
    await page.getByRole('row', { name: /500\s+ECONNREFUSED connect …/ }).waitFor()
    await page.getByRole('link', { name: 'Runs', exact: true }).last().click()
    await page.getByText('500 runs', { exact: true }).waitFor()

    // Select all that match, not only those on the page.
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await page.getByRole('button', { name: 'Select all 500 that match' }).click()
    await page.getByRole('button', { name: 'Retry…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('500 runs would change.').waitFor()
    expect(await dialog.getByRole('listitem').count()).toBe(20)
    await dialog.getByLabel('Reason').fill('the mail server is back')
    await dialog.getByRole('button', { name: 'Retry them' }).click()
    const progress = page.getByRole('region', { name: 'Progress of retry' })
    await progress.getByText('0 of 500 runs so far').waitFor()

    // Two batches are performed; then it is aborted.
    const [bulk] = await app.bulk.list()
    const id = bulk?.id ?? ''
    const stop = new AbortController()
    await app.bulk.perform(id, {
      signal: stop.signal,
      onProgress: ({ done }) => {
        if (done >= 200) stop.abort()
      },
    })
    await progress.getByText('200 of 500 runs so far').waitFor()
    await page.reload()
    await progress.getByRole('button', { name: 'Abort…' }).click()
    await dialog.getByRole('button', { name: 'Abort' }).click()
    await progress.getByText('aborted after 200 of 500 runs').waitFor()
    await page.getByText('300 runs', { exact: true }).waitFor()
    const audited = await app.history()
    expect(audited.map(({ action, reason }) => [action, reason ?? ''])).toEqual(
      expect.arrayContaining([
        ['bulk.abort', ''],
        ['bulk.retry', 'the mail server is back'],
      ]),
    )
    expect(browser.troubles).toEqual([])
  })
})

/** Performs runs that fail, then exits. */
async function failMany(store: string): Promise<void> {
  const app = rota({ store })
  const fail = (): never => {
    throw Object.assign(new Error('connect 10.0.0.7:25'), { code: 'ECONNREFUSED' })
  }
  app.job('mail', fail, { retry: 1 })
  let failed = 0
  const all = new Promise<void>((resolve) => {
    app.on('run:ended', () => {
      failed += 1
      if (failed === failing) resolve()
    })
  })
  await app.enqueueMany(
    'mail',
    Array.from({ length: failing }, (_, index) => index),
  )
  await app.start()
  await all
  await app.close()
}
