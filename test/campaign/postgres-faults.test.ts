import { expect, it } from 'vitest'
import { faultCampaign } from '../faults/campaign.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const seconds = Number(process.env['SECONDS'] ?? 300)

it(`G2–G7: five processes and a server, ${seconds} s of random faults: no run lost or duplicated, every repetition explained (seed ${seed})`, async () => {
  const roles = ['scheduler', 'scheduler', 'worker', 'worker', 'scheduler,worker']
  const report = await faultCampaign({ seed, durationMs: seconds * 1000, roles })
  console.log(`seed ${seed}:`, JSON.stringify({ ...report, broken: report.broken.length }))
  expect(report.broken.slice(0, 20)).toEqual([])
  // Measured from the return of the server; a process that restarts meanwhile takes longer.
  expect(report.healedMs.filter((ms) => ms > 10_000)).toEqual([])
})
