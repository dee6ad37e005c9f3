import { expect, test } from 'vitest'
import { runExample } from '../../../../test/fixtures/run-example.js'

test('N8: examples/isolation/app.mjs continues whatever its handlers do', async () => {
  const { code, output } = await runExample('examples/isolation/app.mjs')
  expect(output.trim().split('\n')).toEqual([
    'render: {"pages":3}, while others went on: true',
    'unruly: HANDLER_EXITED: its process ended before it returned: exit 1: out of ideas',
    'endless: TIMED_OUT',
    'this process is still here: true',
  ])
  expect(code).toBe(0)
})
