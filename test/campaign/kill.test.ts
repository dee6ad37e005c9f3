import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { killCampaign } from '../kill/kill.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const rounds = Number(process.env['ROUNDS'] ?? 20)
const kills = Number(process.env['KILLS'] ?? 100)

it(`loses and doubles nothing over ${rounds} rounds of ${kills} kills (seed ${seed})`, async () => {
  const broken: string[] = []
  for (let round = 0; round < rounds; round++) {
    const directory = await mkdtemp(join(tmpdir(), 'rota-campaign-'))
    const report = await killCampaign({
      seed: seed + round,
      kills,
      directory,
      store: `sqlite:${join(directory, 'rota.db')}`,
    })
    console.log(
      `round ${round + 1} of ${rounds}, seed ${seed + round}:`,
      JSON.stringify({ ...report, broken: report.broken.length }),
    )
    broken.push(...report.broken)
    await rm(directory, { recursive: true })
  }
  expect(broken.slice(0, 20)).toEqual([])
})
