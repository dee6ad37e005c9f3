import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { swarm } from './queue-swarm.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

it(`Q6, Q7: dozens of schedulers and workers on one directory, a part of them killed, do everything once and leave nothing behind (seed ${seed})`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-swarm-'))
  const report = await swarm({ seed, directory, entries: 24, schedulers: 12, workers: 24, killed: 0.3 })
  console.log(`seed ${seed}:`, { ...report, broken: report.broken.length })
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.kills).toBeGreaterThan(0)
  await rm(directory, { recursive: true })
}, 300_000)
