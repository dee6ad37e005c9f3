import { expect, test } from 'vitest'
import { runExample } from '../../fixtures/run-example.js'

test('F6, F7, F10: examples/assets/sensors.mjs produces a partition for every file and for the table', async () => {
  const { code, stdout } = await runExample('examples/assets/sensors.mjs')
  expect(stdout.trim().split('\n')).toEqual([
    'derived_data: data of 2025-01-15',
    'raw_events: events of 2025-01-15',
    'raw_events: events of 2025-01-16',
    'raw_events: events of 2025-03-01',
  ])
  expect(code).toBe(0)
})
