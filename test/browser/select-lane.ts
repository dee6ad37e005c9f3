import type { Page } from 'playwright-core'

/** Selects everything that the timeline shows of a lane, by dragging from its end to its beginning. */
export async function selectLane(page: Page, name: string): Promise<void> {
  const lane = await page.getByRole('link', { name, exact: true }).boundingBox()
  const plot = await page.getByRole('application').boundingBox()
  if (lane === null || plot === null) throw new Error(`the lane ${name} is not there`)
  const y = lane.y + lane.height / 2
  await page.mouse.move(plot.x + plot.width - 1, y)
  await page.mouse.down()
  await page.mouse.move(plot.x + 1, y, { steps: 5 })
  await page.mouse.up()
}
