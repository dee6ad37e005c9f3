import { expect, it } from 'vitest'
import { Theatre } from '../../../src/features/rounds/test/theatre.js'

it('R1: a round and another definition of the run time cannot have the same name', async () => {
  const stage = new Theatre()
  const { app } = stage
  stage.services('s1')
  app.assets.define('report', { materialize: () => undefined })
  await app.start()
  await app.rounds.start('nightly', { every: '1h', services: ['s1'] })
  await expect(app.assets.schedule('report', { name: 'nightly', cron: '0 2 * * *' })).rejects.toThrow(
    /nightly is already a trigger that is not a schedule of an asset/,
  )
  await app.assets.schedule('report', { cron: '0 2 * * *' })
  await expect(app.rounds.start('report', { every: '1h', services: ['s1'] })).rejects.toThrow(
    /report is already a trigger that is not a round/,
  )
  expect((await app.rounds.status('nightly')).services).toEqual(['s1'])
  expect(await app.assets.schedules()).toMatchObject([{ name: 'report' }])
})
