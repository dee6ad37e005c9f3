import { expect, it } from 'vitest'
import { runExample } from '../../../../test/fixtures/run-example.js'

it('examples/alerts/pings.mjs reports that one run was done and one failed', async () => {
  const { code, output } = await runExample('examples/alerts/pings.mjs')
  expect({ code, output }).toEqual({ code: 0, output: '/backup\n/report/fail\n' })
})
