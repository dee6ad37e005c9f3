import type { Locator } from 'playwright-core'

/** The part of a DOM element that is used here. */
interface Shown {
  readonly textContent: string | null
  getAttribute(name: string): string | null
}

/** Reads all times inside an element at once: the ISO text and the text on the screen. */
export async function shownTimes(inside: Locator): Promise<readonly (readonly [string, string])[]> {
  return await inside
    .locator('time')
    .evaluateAll((all) =>
      (all as unknown as readonly Shown[]).map(
        (time) => [time.getAttribute('datetime') ?? '', time.textContent ?? ''] as const,
      ),
    )
}
