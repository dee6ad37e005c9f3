import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { filesUnderLoad } from '../load/files-load.js'

const loadMs = Number(process.env['LOAD_SECONDS'] ?? 60) * 1000
const burners = Number(process.env['BURNERS'] ?? 8)

it(`G5, G6: six processes on one directory keep their leases while ${burners} others use up the processor for ${loadMs / 1000} s`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-load-'))
  const report = await filesUnderLoad({ directory, processes: 6, burners, loadMs, healMs: 60_000 })
  console.log({ ...report, load: loadavg()[0] })
  await rm(directory, { recursive: true })
  expect(report).toMatchObject({ lostLeases: 0, lostRuns: 0, repeats: 0, overlaps: 0, unfinished: 0 })
  expect(report.healedAfterMs).toBeDefined()
  expect(report.slowestStopMs).toBeDefined()
})
