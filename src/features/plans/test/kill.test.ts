import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { swarm } from './queue-swarm.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

it(`Q6, Q7: schedulers and workers on one directory, some of them killed, do everything once and leave nothing behind (seed ${seed})`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-swarm-'))
  const size = { entries: 24, schedulers: 3, workers: 6, dueWithinSeconds: 3, lease: '2s' }
  const report = await swarm({ seed, directory, ...size, killed: 0.3, killedWithinMs: 800 })
  console.log(`seed ${seed}:`, { ...report, broken: report.broken.length })
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.kills).toBeGreaterThan(0)
  await rm(directory, { recursive: true })
}, 300_000)
