import { expect, test } from 'vitest'
import { runExample } from '../../../../test/fixtures/run-example.js'

test('N9: examples/bus/app.mjs finds a subscriber for a run that no worker takes', async () => {
  const { code, output } = await runExample('examples/bus/app.mjs')
  const lines = output.trim().split('\n')
  // Its own run and the offer race, so their order is not fixed.
  expect(lines.slice(0, 3).toSorted()).toEqual([
    'check_status: all well',
    'notify: notified user1',
    'offered: notify for user1',
  ])
  expect(lines.indexOf('offered: notify for user1')).toBeLessThan(lines.indexOf('notify: notified user1'))
  expect(lines.slice(3)).toEqual([
    'rota_pool_tasks_submitted_total 2',
    'rota_pool_tasks_completed_total 2',
    'rota_pool_tasks_failed_total 0',
  ])
  expect(code).toBe(0)
})
