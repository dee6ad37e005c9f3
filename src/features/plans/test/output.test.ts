import { closeSync, cpSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { endOf, hasFullDisk, newDirectory, onFullDisk, start, textOf } from '../../../../test/cli/streams.js'
import { root } from '../../../../test/repository.js'

/** A queue with one run that is due. */
function queue(): string {
  const cwd = newDirectory()
  cpSync(join(root, 'examples/plans'), cwd, { recursive: true })
  const id = '00f0a1094f8b'
  const file = {
    schema_version: 'v1',
    job_id: id,
    scheduled_for: '2026-01-05T11:00:00Z',
    pipeline_path: 'pipeline.web.yml',
    run_id: `20260105_1800_${id}`,
  }
  writeFileSync(join(cwd, 'pipeline.web.yml'), `steps: [{ run: [node, -e, "console.log('worked')"] }]`)
  const pending = join(cwd, 'data/queue/pending')
  mkdirSync(pending, { recursive: true })
  writeFileSync(join(pending, `20260105T110000Z_${id}.json`), JSON.stringify(file))
  return cwd
}

function filesOf(cwd: string, state: string): number {
  const path = join(cwd, 'data/queue', state)
  return existsSync(path) ? readdirSync(path).filter((name) => name.endsWith('.json')).length : 0
}

describe('rota work, if its output cannot be written,', () => {
  it.skipIf(!hasFullDisk)('performs its run on a full disk, and says so by its exit code', async () => {
    const cwd = queue()
    const { code, stderr } = await onFullDisk(['work'], cwd)
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: 'warning: standard output cannot be written: ENOSPC: no space left on device, write\n',
    })
    expect({ done: filesOf(cwd, 'done'), running: filesOf(cwd, 'running') }).toEqual({ done: 1, running: 0 })
    const [summary] = readdirSync(join(cwd, 'output/worker/artifacts'))
    expect(summary).toBe('worker_summary_00f0a1094f8b.json')
  })

  it('performs its run although nobody reads its output', async () => {
    const cwd = queue()
    const child = start(['work'], cwd, ['ignore', 'pipe', 'pipe'])
    child.stdout?.destroy()
    const stderr = await textOf(child)
    expect({ code: await endOf(child), stderr }).toEqual({ code: 0, stderr: '' })
    expect({ done: filesOf(cwd, 'done'), running: filesOf(cwd, 'running') }).toEqual({ done: 1, running: 0 })
  })

  it.skipIf(!hasFullDisk)('ends as usual if its errors cannot be written', async () => {
    const full = openSync('/dev/full', 'w')
    const worked = start(['work', '--dry-run'], queue(), ['ignore', 'ignore', full])
    closeSync(full)
    expect(await endOf(worked)).toBe(0)
  })
})
