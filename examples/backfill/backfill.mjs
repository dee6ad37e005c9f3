// Runs the due times that a pause has held back.
import { rota } from 'rota'
import { testApp } from 'rota/testing'

const made = []
const test = await testApp(
  (world) => {
    const app = rota(world)
    app.cron('nightly', '0 2 * * *', (run) => void made.push(run.dueAt.toISOString().slice(0, 10)))
    return app
  },
  { at: '2026-01-01T00:00:00Z' },
)
const { app } = test
await test.advance('2d')
await app.triggers.pause('nightly', { reason: 'the database moves' })
await test.advance('3d')
await app.triggers.resume('nightly')
await test.advance('1d')
console.log('ran', made.join(' '))

const january = { from: '2026-01-01T00:00:00Z', to: '2026-01-31T00:00:00Z' }
const { run, skip, backfill } = await app.triggers.backfill('nightly', { ...january, pace: '1/1m' })
console.log('would run', run.map(({ at }) => at.toISOString().slice(0, 10)).join(' '))
for (const { reason, count } of skip) console.log('skips', count, reason)

await app.backfills.start(backfill.id)
await test.advance('10m')
const { done, total } = await app.backfills.get(backfill.id)
console.log(`${done} of ${total} done:`, made.slice(-total).join(' '))
const { beside } = await app.why('nightly', { from: '2026-01-04T02:00:00Z' })
console.log('4 January:', beside[0].origin, beside[0].labels.backfill === backfill.id)
await test.close()
