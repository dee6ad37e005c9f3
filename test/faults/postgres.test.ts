import { expect, it } from 'vitest'
import { faultCampaign } from './campaign.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const seconds = Number(process.env['SECONDS'] ?? 10)

it(`G2–G7: five processes and a server, ${seconds} s of everything that breaks: none lost, none doubled, every repeat explained (seed ${seed})`, async () => {
  const report = await faultCampaign({ seed, durationMs: seconds * 1000 })
  console.log(`seed ${seed}:`, JSON.stringify({ ...report, broken: report.broken.length }))
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.acknowledged).toBeGreaterThan(0)
}, 600_000)
