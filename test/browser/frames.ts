import type { Page } from 'playwright-core'

/** The cost of frames on the main thread of a page. */
export interface Frames {
  /** CPU time of the main thread, which does not depend on the load of the machine. */
  readonly cpuP95Ms: number
  /** Time between frames. On a busy machine it includes the time of other processes. */
  readonly wallP95Ms: number
}

/** Repeats an action, and measures the two frames in which the page handles and shows it. */
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
    // After the second frame, the result of the first one is on the screen.
    await page.evaluate('new Promise((over) => requestAnimationFrame(() => requestAnimationFrame(over)))')
    cpu.push(((await busyMs()) - before) / 2)
    wall.push((performance.now() - began) / 2)
  }
  await detach()
  return { cpuP95Ms: p95(cpu), wallP95Ms: p95(wall) }
}

/** Reads the CPU time of the main thread of a page. */
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
