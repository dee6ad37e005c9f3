import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../repository.js'
import { stores } from './served.js'
import { site } from './site.js'

/** The paths without parameters: an empty store has nothing to show on the others. */
const paths = [
  ...readFileSync(join(root, 'dashboard/src/pages/index.ts'), 'utf8').matchAll(/path: '([^':]+)'/g),
].map(([, path = '']) => path)

/** The pages that show what a config defines; they teach a command and a config. */
const taught = [
  '/',
  '/timeline',
  '/triggers',
  '/runs',
  '/ledger',
  '/assets',
  '/rounds',
  '/sensors',
  '/queues',
]

describe.each(stores)('an empty store, on %s', (store) => {
  const { served, browser } = site({ store, config: 'app: empty\n' })

  it.each(paths)('%s teaches its first step, without an error', async (path) => {
    const page = await browser.open(`${served.url}/#${path}`)
    await page.locator('#content h1').first().waitFor({ state: 'attached' })
    await page.waitForTimeout(500)
    expect(await page.getByRole('alert').count()).toBe(0)
    expect((await page.locator('#content').innerText()).length).toBeGreaterThan(40)
    if (taught.includes(path)) {
      await page.getByText('In rota.config.yaml', { exact: true }).waitFor()
      await page
        .getByText(/^(In|Then, in) a terminal$/)
        .first()
        .waitFor()
      await page
        .locator('figure pre')
        .filter({ hasText: /^rota / })
        .first()
        .waitFor()
    }
    await page.close()
  })

  it('shows the command that adds the first trigger, and updates when it is run', async () => {
    const page = await browser.open(served.url)
    await page.getByText('Nothing is scheduled yet.').waitFor()
    await page.getByText("rota add hello --cron '* * * * *' -- echo hello").waitFor()
    await served.command('add', 'hello', '--cron', '* * * * *', '--', 'echo', 'hello')
    await page.getByText('Nothing is scheduled yet.').waitFor({ state: 'detached' })
    const next = page.getByRole('region', { name: 'Next 60 minutes' })
    await next.getByText('hello').first().waitFor({ timeout: 30_000 })
    expect(browser.troubles).toEqual([])
  })
})
