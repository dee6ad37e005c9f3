import { expect, it } from 'vitest'
import { checkChanges, checkExamples, serveApp, testApp } from '../../../../test/fixtures/api-stage.js'
import { alertRoutes } from '../routes.js'

it('the routes of alerts answer their examples, without addresses', async () => {
  const parts = testApp()
  parts.app.alerts.channel('ops', { command: ['true'] })
  parts.app.alerts.channel('chat', { slack: { url: { env: 'NO_SUCH_VARIABLE_OF_THE_TEST' } } })
  parts.app.alerts.rule('all', { channels: ['ops'] })
  const { ask } = await serveApp(parts)
  await checkExamples(ask, alertRoutes, {})
  const dry = await ask('POST', '/api/v1/alerts/test', { body: { dryRun: true } })
  expect(dry.body).toMatchObject({
    tests: [{ channel: 'ops', kind: 'command', sent: false }, { channel: 'chat' }],
  })
  const sent = await ask('POST', '/api/v1/alerts/test', { body: {} })
  expect(sent.body).toMatchObject({ tests: [{ sent: true }, { sent: false }] })
  expect((await ask('POST', '/api/v1/alerts/test', { body: { channel: 'opps' } })).status).toBe(404)
})

it('every change has a dry run, and writes an audit entry', async () => {
  const parts = testApp()
  parts.app.alerts.channel('ops', { command: ['true'] })
  const { ask } = await serveApp(parts)
  await checkChanges({ app: parts.app, ask }, alertRoutes, {
    'POST /alerts/test': { path: '/alerts/test', body: { channel: 'ops' }, action: 'alert.test' },
  })
})
