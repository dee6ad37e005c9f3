import { describe, expect, it } from 'vitest'
import { stores } from './served.js'
import { site } from './site.js'

/** Prints HTML, terminal escapes, a right-to-left override, and a very long line. */
const hostile = `const { stdout, stderr } = process
stdout.write('<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</scr' + 'ipt>\\n')
stdout.write('\\u001b[31mred\\u001b[0m \\u202Egnp.exe\\n')
stdout.write('long ' + 'x'.repeat(1_000_000) + '\\n')
stderr.write('<svg onload=alert(1)> \\u202E evil \\u001b]0;title\\u0007')
process.exitCode = 3
`

/** The characters that begin terminal escapes or override the text direction. */
// oxlint-disable-next-line no-control-regex
const turning = /[\u001B\u202A-\u202E]/

const config = `
jobs:
  evil: { command: [node, evil.cjs] }
`

describe.each(stores)('hostile text, on %s', (store) => {
  const { served, browser } = site({ store, config, files: { 'evil.cjs': hostile } })

  it('in payloads, logs and errors is shown as text: no script runs, and the content security policy reports nothing', async () => {
    const payload = { note: '<script>globalThis.hacked=1</script>', '__proto__ ': '\u202Edlrow' }
    const { id } = await served.client('POST /runs', { body: { job: 'evil', payload } })
    await served.until(id, 'failed')
    const page = await browser.open(`${served.url}/#/runs/${id}`)
    const log = page.getByRole('log')
    await log.getByText('<img src=x').waitFor()
    await log.getByText('gnp.exe').waitFor()
    await log.getByText('long xxx').waitFor()
    const shown = await page.locator('body').innerText()
    expect(shown).not.toMatch(turning)
    expect(shown.length).toBeLessThan(100_000)
    await page.getByText('"note": "<script>').waitFor()
    expect(await page.evaluate<number | undefined>('globalThis.hacked')).toBeUndefined()
    await page.goto(`${served.url}/#/`)
    await page.getByRole('region', { name: 'Needs you' }).getByText('evil').first().waitFor()
    expect(await page.evaluate<number | undefined>('globalThis.hacked')).toBeUndefined()
    expect(browser.troubles).toEqual([])
  })
})
