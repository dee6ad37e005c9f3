import type { Page } from 'playwright-core'

/** Selects the whole visible part of a lane of the timeline by dragging over it. */
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
