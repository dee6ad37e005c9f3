import { expect, it } from 'vitest'
import { runExample } from '../../../../test/fixtures/run-example.js'

it('examples/alerts/app.mjs reports three failures in one signed message', async () => {
  const { code, output } = await runExample('examples/alerts/app.mjs')
  const said = '3 failed runs: mail\nconnect ECONNREFUSED 10.0.0.7:25\nsigned\n'
  expect({ code, output }).toEqual({ code: 0, output: said })
})
