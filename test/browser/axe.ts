import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Rows and cells that axe skips: they repeat the component of the first ones, and checking hundreds of them took most of
 * the time.
 */
const repeated = [
  'tbody > tr:nth-child(n + 13)',
  'tbody td:nth-child(n + 13)',
  '[role=group] > button:nth-of-type(n + 15):not([data-today=true])',
  '[role=group] > div:nth-of-type(n + 5)',
]

/** Lists the violations of WCAG 2.2 AA on a page: the rule and the element. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  // The content security policy blocks script tags, so the source is evaluated, once for each page.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(source)
  const results = await page.evaluate(async (exclude) => {
    const { axe } = globalThis as unknown as { axe: { run(...given: unknown[]): Promise<AxeResults> } }
    return await axe.run({ exclude }, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
  }, repeated)
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  )
}
