import { expect, test } from 'vitest'
import { runExample } from '../../../../test/fixtures/run-example.js'

test('F1, F13: examples/assets/assets.mjs schedules, follows and backfills', async () => {
  const { code, output } = await runExample('examples/assets/assets.mjs')
  expect(output.trim().split('\n')).toEqual([
    'daily_report is due at 0 2 * * *',
    'hourly_metrics is due at 0 * * * *',
    'realtime_metrics is due at */15 * * * *',
    'done {"partition":"2025-11-02","hours":25}',
    'upstream 2025-11-02 derived from the events of 2025-11-02',
    'would make 2025-11-01 2025-11-03 2025-11-04 | leaves alone 2025-11-02',
    '3 of 3 done',
    '2025-11-01 done, 2025-11-02 done, 2025-11-03 done, 2025-11-04 done',
    '{ removed: true } { removed: false }',
  ])
  expect(code).toBe(0)
})
