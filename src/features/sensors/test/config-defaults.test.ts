import { expect, it } from 'vitest'
import { read } from '../../../../test/fixtures/config-text.js'

it('the timezone of a config is the default of its sensors', async () => {
  const { sections } = await read(`
timezone: Asia/Tokyo
jobs: { own: { command: [x] } }
sensors: { found: { type: files, glob: "*", job: own } }
`)
  expect(sections.flatMap(({ triggers = [] }) => triggers)).toMatchObject([
    { trigger: { name: 'found', schedule: { timezone: 'Asia/Tokyo' } } },
  ])
})
