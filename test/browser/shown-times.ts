import type { Locator } from 'playwright-core'

/** An element of a page, as far as it is read here. */
interface Shown {
  readonly textContent: string | null
  getAttribute(name: string): string | null
}

/** The times inside of something, all at one moment: ISO text, and what a reader sees. */
export async function shownTimes(inside: Locator): Promise<readonly (readonly [string, string])[]> {
  return await inside
    .locator('time')
    .evaluateAll((all) =>
      (all as unknown as readonly Shown[]).map(
        (time) => [time.getAttribute('datetime') ?? '', time.textContent ?? ''] as const,
      ),
    )
}
