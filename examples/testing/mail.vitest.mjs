// Tests of your own jobs with vitest. mail.test.mjs has more of them, for the test runner of Node.
import { beforeEach, expect, test } from 'vitest'
import { fakeRun, testApp } from 'rota/testing'
import { makeApp, sendMail, sent } from './mail.js'

beforeEach(() => void sent.splice(0))

test('a handler alone', async () => {
  const run = fakeRun({ payload: { to: 'ada@example.org' } })
  expect(await sendMail(run)).toEqual({ to: 'ada@example.org' })
  expect(run.lines).toEqual([{ level: 'info', text: 'sending to ada@example.org' }])
})

test('a week in a few milliseconds', async () => {
  const test = await testApp(makeApp, { at: '2026-01-05T00:00:00Z' })
  await test.advance('7d')
  expect(await test.runs({ trigger: 'digest', state: 'done' })).toHaveLength(5)
  expect(sent).toHaveLength(10)
  await test.close()
})
