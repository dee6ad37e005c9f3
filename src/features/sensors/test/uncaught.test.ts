import { expect, it } from 'vitest'
import { app, linesOf, up } from '../../../../test/cli/uncaught-app.js'

it('an uncaught error fails the poll that it comes from, and everything else continues', async () => {
  const engine = up(
    app(
      { good: `async () => { await wait(300) }` },
      `app.sensors.define('seen', { job: 'good', sensor: {
          init: () => ({ kind: 'ok', state: null }),
          poll: async (state) => {
            void Promise.reject(new Error('forgotten by a poll'))
            return { kind: 'no-trigger', state }
          },
        } })`,
    ),
  )
  for (const text of [/"trigger":"good".*"state":"done"/, 'by a poll']) await engine.said(text)
  engine.child.kill('SIGTERM')
  const ended = await engine.ended
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const lines = linesOf(ended)
  expect(lines.find(({ event }) => event === 'sensor:failed')).toMatchObject({
    subject: 'seen',
    reason: 'uncaught error: forgotten by a poll',
  })
})
