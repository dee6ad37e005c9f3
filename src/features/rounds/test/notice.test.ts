import { expect, it } from 'vitest'
import { toJson } from '../../../wire/to-json.js'
import { appAt } from '../../../../test/fixtures/app-stage.js'
import { noticesOf, t0 } from '../../../../test/fixtures/told-app.js'

it('N10: the lines of a run of a round name its service, those of any other its trigger or job', async () => {
  const stage = appAt(t0)
  const { app, pass } = stage
  app.job('crawl', (run) => run.log('crawls'))
  app.rounds.define('crawlers', { every: '1h', services: ['crawl'] })
  app.schedule('nine', { cron: '0 9 * * *', job: 'crawl' })
  const notices = await noticesOf(stage)
  await app.start()
  await pass(61_000)
  const closing = app.close()
  await pass(20_000)
  await closing
  const told = notices
    .filter(({ event }) => event.startsWith('run:'))
    .map(({ event, subject }) => `${event} ${subject}`)
  const all = (subject: string): string[] =>
    ['run:started', 'run:log', 'run:ended'].map((event) => `${event} ${subject}`)
  expect(told.toSorted()).toEqual([...all('crawlers: crawl'), ...all('nine')].toSorted())
})

it('R4: the log of a round says what each check found due and what it skipped, as text and as JSON', async () => {
  const stage = appAt(t0)
  const { app, pass } = stage
  for (const name of ['a', 'daily']) app.job(name, () => undefined)
  app.rounds.define('r', { every: '1h', services: ['a', { job: 'daily', every: '24h' }] })
  const notices = await noticesOf(stage)
  await app.start()
  await pass(3_600_000)
  const checks = notices.filter(({ data }) => data['reason'] === 'checked')
  expect(checks.map(({ text }) => text)).toEqual([
    'check of 08:59:00: due: a, daily',
    'check of 09:59:00: due: a; skipped: daily (not due before 2026-01-06 08:59:00)',
  ])
  expect(toJson(checks[1]?.data)).toMatchObject({
    trigger: 'r',
    due: ['a'],
    skipped: [{ service: 'daily', reason: 'not_due', dueAt: '2026-01-06T08:59:00Z' }],
  })
})
