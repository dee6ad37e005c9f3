// The handlers of a small app, and the function that creates it. A program calls it without options, a test with its own.
import { rota } from 'rota'

export const sent = []

export async function sendMail(run) {
  if (run.payload?.to === undefined) throw new Error('the payload has no "to"')
  run.log(`sending to ${run.payload.to}`)
  sent.push(run.payload.to)
  return { to: run.payload.to }
}

export function makeApp(options) {
  const app = rota({ app: 'mail', ...options })
  const mail = app.job('mail', sendMail, { retry: { attempts: 3, delay: '10m', jitter: 0 } })
  app.cron('digest', '0 9 * * MON-FRI', async () => {
    await app.enqueue(mail, { to: 'ada@example.org' })
    await app.enqueue(mail, { to: 'grace@example.org' })
  })
  return app
}
