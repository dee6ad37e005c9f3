import { expect, it } from 'vitest'
import { runExample } from '../../../../test/fixtures/run-example.js'

it('examples/bulk/retry-failed.mjs retries what failed', async () => {
  const { code, output } = await runExample('examples/bulk/retry-failed.mjs')
  expect({ code, output }).toEqual({ code: 0, output: 'would retry 3\nretried 3, sent 3\n' })
})
