import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What a page does wrong by the rules of WCAG 2.2 AA: the rule, and where. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  // By evaluation: the content security policy refuses a script tag.
  await page.evaluate(source)
  const results = await page.evaluate(
    async () =>
      await (globalThis as unknown as { axe: { run(options: unknown): Promise<AxeResults> } }).axe.run({
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      }),
  )
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  )
}
