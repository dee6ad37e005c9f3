import type { Page } from 'playwright-core'

/** What frames cost the main thread of a page. */
export interface Frames {
  /** CPU time of the main thread: what the page itself costs, whatever else the machine does. */
  readonly cpuP95Ms: number
  /** From one frame to the next as a reader sees them; on a busy machine it has the time of others in it. */
  readonly wallP95Ms: number
}

/** Does something again and again, and measures the two frames in which it is taken in and shown. */
export async function measureFrames(
  page: Page,
  count: number,
  act: (index: number) => Promise<void>,
): Promise<Frames> {
  const { busyMs, detach } = await mainThread(page)
  const [cpu, wall]: [number[], number[]] = [[], []]
  for (let index = 0; index < count; index += 1) {
    const [before, began] = [await busyMs(), performance.now()]
    await act(index)
    // After the second frame, what the first one drew is on the screen.
    await page.evaluate('new Promise((over) => requestAnimationFrame(() => requestAnimationFrame(over)))')
    cpu.push(((await busyMs()) - before) / 2)
    wall.push((performance.now() - began) / 2)
  }
  await detach()
  return { cpuP95Ms: p95(cpu), wallP95Ms: p95(wall) }
}

/** Tells how long the main thread of a page has been busy, in CPU time. */
export async function mainThread(
  page: Page,
): Promise<{ readonly busyMs: () => Promise<number>; readonly detach: () => Promise<void> }> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return {
    busyMs: async () => {
      const { metrics } = await session.send('Performance.getMetrics')
      return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
    },
    detach: async () => await session.detach(),
  }
}

function p95(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN
}
