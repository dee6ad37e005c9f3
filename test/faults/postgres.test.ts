import { expect, it } from 'vitest'
import { faultCampaign } from './campaign.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const seconds = Number(process.env['SECONDS'] ?? 5)

it(`G2–G7: a scheduler, a worker, one that is both, and ${seconds} s of random faults: no run lost or duplicated, every repetition explained (seed ${seed})`, async () => {
  const roles = ['scheduler', 'worker', 'scheduler,worker']
  const report = await faultCampaign({ seed, durationMs: seconds * 1000, roles })
  console.log(`seed ${seed}:`, JSON.stringify({ ...report, broken: report.broken.length }))
  expect(report.broken.slice(0, 10)).toEqual([])
  // If a server or a process was stopped, there may be few requests.
  expect(report.acknowledged + report.orders).toBeGreaterThan(0)
}, 300_000)
