import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { killCampaign } from './kill.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const kills = Number(process.env['KILLS'] ?? 12)

it(`G2, G4, G5, G7: the real program, killed with kill -9 ${kills} times with a second process on the same file, loses and duplicates nothing (seed ${seed})`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-kill-'))
  const report = await killCampaign({ seed, kills, directory, store: `sqlite:${join(directory, 'rota.db')}` })
  console.log(`seed ${seed}:`, { ...report, broken: report.broken.length })
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.enqueued).toBeGreaterThan(0)
  expect(report.repeated).toBeGreaterThan(0)
  await rm(directory, { recursive: true })
}, 3_600_000)
