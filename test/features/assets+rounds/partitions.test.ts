import { expect, it } from 'vitest'
import { stageAt } from '../../../src/features/assets/test/stage.js'
import { byKeys, daily, hourly, twoDimensional } from '../../../src/kernel/partition/define.js'

const timezone = 'America/New_York'

it('an app reports at the start all triggers whose partition cannot be determined', async () => {
  const { app } = stageAt('2025-01-15T00:00:00Z')
  const materialize = (): void => undefined
  app.assets.define('days', { partitions: daily({ timezone }), materialize })
  app.assets.define('hours', { partitions: hourly({ timezone }), materialize })
  app.assets.define('regions', { partitions: byKeys(['eu', 'us']), materialize })
  app.assets.define('sales', { partitions: twoDimensional(daily(), byKeys(['eu', 'us'])), materialize })
  app.assets.define('whole', { materialize })
  app.job('mail', () => undefined)
  const cron = '0 2 * * *'
  await app.assets.schedule('days', { cron })
  await app.assets.schedule('days', { cron, timezone, partition: 'hour', name: 'grain' })
  await app.assets.schedule('hours', { cron, partition: 'hour' })
  await app.assets.schedule('regions', { cron })
  await app.assets.schedule('regions', { cron, partition: { label: 'asia' }, name: 'label' })
  await app.assets.schedule('sales', { cron, partition: 'slice' })
  await app.assets.schedule('sales', { cron, partition: { key: 'asia' }, name: 'key' })
  await app.assets.schedule('whole', { cron, partition: 'day' })
  app.schedule('finish', { job: 'whole', every: '1h', after: 'finish' })
  app.schedule('mail', { job: 'mail', cron, partition: 'previous' })
  app.rounds.define('round', { every: '1h', services: ['mail', 'whole'] })
  await expect(app.start()).rejects.toMatchObject({
    code: 'DEFINITION_INVALID',
    faults: [
      {
        path: 'schedules.days.partition',
        message: 'the schedule is read in UTC, and the asset is cut by the calendar of America/New_York',
      },
      { path: 'schedules.grain.partition', message: 'the partitions of the asset are daily' },
      {
        path: 'schedules.hours.partition',
        message: 'the hours of the asset are those of America/New_York',
      },
      { path: 'schedules.regions.partition' },
      { path: 'schedules.label.partition.label' },
      { path: 'schedules.sales.partition' },
      { path: 'schedules.key.partition.key' },
      { path: 'schedules.whole.partition', message: 'the asset has no partitions' },
      { path: 'triggers.finish.after' },
      { path: 'triggers.mail.partition', message: 'only an asset supports it' },
      { path: 'rounds.round.services' },
    ],
  })
})
