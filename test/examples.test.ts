import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadApp } from '../src/app/load-app.js'
import { filesUnder, root } from './repository.js'

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rota-examples-'))
})

afterAll(async () => {
  await rm(directory, { recursive: true })
})

describe('configs', () => {
  const configs = filesUnder('examples', [
    'rota.config.yaml',
    'rota.config.mjs',
    'rota.config.ts',
    'rota.config.json',
  ])

  test('there is one for every page that needs one', () => {
    const folders = configs.map(({ path }) => path.split('/')[1])
    expect(folders).toEqual(
      expect.arrayContaining(['jobs', 'operating', 'policies', 'quickstart', 'schedules']),
    )
  })

  test.each(configs.map(({ path }) => path))('%s is valid and can be written to a store', async (path) => {
    const app = await loadApp(join(root, path), { directory, store: 'memory:' })
    // Nothing is performed: what an example asks for may lie outside this machine.
    const report = await app.start({ roles: { scheduler: true, worker: false } })
    const triggers = await app.triggers()
    await app.stop({ grace: 0 })
    expect(report?.defined.length).toBe(triggers.length)
    expect(triggers.length).toBeGreaterThan(0)
  })
})

describe('programs', () => {
  test('examples/library/nightly.mjs performs its run and stops in order', async () => {
    const { code, output } = await run('examples/library/nightly.mjs', { stopAfter: 'is done' })
    expect(output).toMatch(/run \w{36} is done: \{"rows":42\}/)
    expect(code).toBe(0)
  })

  test('examples/library/app.mjs performs what is due and what that enqueues', async () => {
    const { code, output } = await run('examples/library/app.mjs', { stopAfter: 'mail: done' })
    expect(output).toMatch(/digest: done in \d+ ms/)
    expect(code).toBe(0)
  })

  test('examples/moving/move.mjs moves a store and goes on in the new one', async () => {
    const { code, output } = await run('examples/moving/move.mjs', {})
    expect(output.trim().split('\n')).toEqual(['moved 1 job and 1 run', 'report is done in SQLite: made'])
    expect(code).toBe(0)
  })

  test('examples/jobs/functions.mjs charges once, refuses for good, and times out', async () => {
    const { code, output } = await run('examples/jobs/functions.mjs', {})
    expect(output.trim().split('\n')).toEqual([
      'the same run: true, charged done',
      'refused: an amount of 0 will not get better',
      'slow: TIMED_OUT',
      'charged 1 time',
    ])
    expect(code).toBe(0)
  })

  test('examples/partitions/partitions.mjs cuts, lists and maps', async () => {
    const { code, output } = await run('examples/partitions/partitions.mjs', {})
    expect(output.trim().split('\n')).toEqual([
      '2025-01-15 2025-01-15T02:00-05:00 2025-01-14',
      'the day had 23 hours',
      '2025-11 2025-12 2026-01',
      '8760',
      '25 2025-11-02T01:00-04:00 2025-11-02T01:00-05:00',
      '2025-11-02',
      '2025-02-28|eu',
      expect.stringMatching(/^PARTITION_INVALID: "2025-02-30" does not exist: 2025-02 has the days 01 to 28/),
      expect.stringMatching(/^PARTITION_INVALID: "2024-12-31" lies before the first partition/),
    ])
    expect(code).toBe(0)
  })

  test('N8: examples/isolation/app.mjs goes on whatever its handlers do', async () => {
    const { code, output } = await run('examples/isolation/app.mjs', {})
    expect(output.trim().split('\n')).toEqual([
      'render: {"pages":3}, while others went on: true',
      'unruly: HANDLER_EXITED: its process ended before it returned: exit 1: out of ideas',
      'endless: TIMED_OUT',
      'this process is still here: true',
    ])
    expect(code).toBe(0)
  })

  test('N9: examples/bus/app.mjs finds somebody for a run that no worker takes', async () => {
    const { code, output } = await run('examples/bus/app.mjs', {})
    expect(output.trim().split('\n')).toEqual([
      'check_status: all well',
      'offered: notify for user1',
      'notify: notified user1',
      'rota_pool_tasks_submitted_total 2',
      'rota_pool_tasks_completed_total 2',
      'rota_pool_tasks_failed_total 0',
    ])
    expect(code).toBe(0)
  })

  test('examples/testing/report.test.mjs passes', async () => {
    const { code, output } = await run('examples/testing/report.test.mjs', { options: ['--test'] })
    expect(output).toContain('# fail 0')
    expect(code).toBe(0)
  })
})

/** Runs an example as a person would, in a directory of its own, until it ends or says what was waited for. */
function run(
  path: string,
  { stopAfter, options = [] }: { stopAfter?: string; options?: readonly string[] },
): Promise<{ code: number | null; output: string }> {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const child = spawn(process.execPath, [...options, join(root, path)], {
    cwd: directory,
    env,
    stdio: [...stdio],
  })
  return new Promise((resolve) => {
    let output = ''
    const hear = (chunk: Buffer): void => {
      output += chunk.toString('utf8')
      if (stopAfter !== undefined && output.includes(stopAfter)) child.kill('SIGINT')
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('close', (code) => resolve({ code, output }))
  })
}
