// Tests of your own jobs. Run them with `node --test examples/testing/mail.test.mjs`; mail.vitest.mjs is the same for vitest.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { fakeRun, testApp } from 'rota/testing'
import { makeApp, sendMail, sent } from './mail.js'

beforeEach(() => sent.splice(0))

test('a handler alone', async () => {
  const run = fakeRun({ payload: { to: 'ada@example.org' } })
  assert.deepEqual(await sendMail(run), { to: 'ada@example.org' })
  assert.deepEqual(run.lines, [{ level: 'info', text: 'sending to ada@example.org' }])
  await assert.rejects(sendMail(fakeRun()), /no "to"/)
})

test('a week in a few milliseconds: the digest is not sent on the weekend', async () => {
  const test = await testApp(makeApp, { at: '2026-01-05T00:00:00Z' })
  await test.advance('7d')
  const digests = await test.assertEnqueued({ trigger: 'digest' }, { count: 5 })
  assert.equal(digests[0].dueAt.toISOString(), '2026-01-05T09:00:00.000Z')
  await test.assertEnqueued({ job: 'mail', payload: { to: 'ada@example.org' } }, { count: 5 })
  await test.refuteEnqueued({ job: 'mail', state: 'failed' })
  assert.equal(sent.length, 10)
  await test.close()
})

test('the next due time, without computing it', async () => {
  const test = await testApp(makeApp, { at: '2026-01-09T12:00:00Z' })
  const [digest] = await test.runDue('digest')
  assert.equal(digest.dueAt.toISOString(), '2026-01-12T09:00:00.000Z')
  assert.deepEqual(sent, ['ada@example.org', 'grace@example.org'])
  await test.close()
})

test('a bad payload is tried three times', async () => {
  const test = await testApp(makeApp)
  await test.app.enqueue('mail', { subject: 'nobody gets this' })
  const [run] = await test.drain({ delayed: true })
  assert.deepEqual([run.state, run.attempt, run.error.message], ['failed', 3, 'the payload has no "to"'])
  await test.close()
})

test('a crash at any call of the store loses no digest', async () => {
  let crashes = 0
  for (let call = 1; call <= 12; call++) {
    const test = await testApp(makeApp, { at: '2026-01-05T08:59:00Z' })
    test.crashAt(call)
    await test.advance('2h')
    if (test.isCrashed) {
      crashes += 1
      await test.restart()
      // The lease of the dead process has to expire before its runs are taken over.
      await test.advance('2h')
    }
    await test.assertEnqueued({ trigger: 'digest', state: 'done' }, { count: 1 })
    await test.close()
  }
  assert.equal(crashes, 12)
})
