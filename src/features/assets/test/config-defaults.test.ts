import { expect, it } from 'vitest'
import { read } from '../../../../test/fixtures/config-text.js'

it('the timezone of a config is the default of its schedules', async () => {
  const { sections } = await read(`
timezone: Asia/Tokyo
assets: { made: { command: [x], partitions: { kind: daily, timezone: Asia/Tokyo } } }
schedules: { made: { cron: "0 3 * * *" } }
`)
  expect(sections.flatMap(({ triggers = [] }) => triggers)).toMatchObject([
    { trigger: { name: 'made', schedule: { timezone: 'Asia/Tokyo' } } },
  ])
})

it('the env of a config applies to the command of an asset', async () => {
  const { sections } = await read(`
env: { STAGE: test, API_TOKEN: { env: HOST_TOKEN } }
assets: { made: { command: [x] } }
`)
  expect(sections.flatMap(({ jobs = [] }) => jobs)).toMatchObject([
    { job: { handler: { env: { STAGE: 'test', API_TOKEN: { env: 'HOST_TOKEN' } } } } },
  ])
})
