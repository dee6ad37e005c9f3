import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { swarm } from '../queue-swarm.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const rounds = Number(process.env['ROUNDS'] ?? 10)

it(`Q6, Q7: a swarm on one directory does everything once in ${rounds} rounds (seed ${seed})`, async () => {
  const broken: string[] = []
  for (let round = 0; round < rounds; round++) {
    const directory = await mkdtemp(join(tmpdir(), 'rota-swarm-'))
    const size = { entries: 150, schedulers: 12, workers: 24, dueWithinSeconds: 8, lease: '5s' }
    const kills = { killed: 0.35, killedWithinMs: 2500 }
    const report = await swarm({ seed: seed + round, directory, ...size, ...kills })
    const told = JSON.stringify({ ...report, broken: report.broken.length })
    console.log(`round ${round + 1} of ${rounds}, seed ${seed + round}:`, told)
    broken.push(...report.broken)
    await rm(directory, { recursive: true })
  }
  expect(broken.slice(0, 20)).toEqual([])
})
