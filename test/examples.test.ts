import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadApp } from '../src/app/definitions/load-app.js'
import { rota } from '../src/app/rota.js'
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
    const triggers = await app.triggers.list()
    await app.stop({ grace: 0 })
    expect(report?.defined.length).toBe(triggers.length)
    expect(triggers.length).toBeGreaterThan(0)
  })
})

describe('programs', () => {
  test('examples/library/nightly.ts performs its run and stops', async () => {
    const { code, output } = await run('examples/library/nightly.ts', {
      stopAfter: 'rows',
      options: [join(root, 'test/fixtures/run-typescript.mjs')],
    })
    expect(output).toContain('report: { rows: 42 }')
    expect(code).toBe(0)
  })

  test('examples/library/typed.ts checks payloads and types results', async () => {
    const { code, output } = await run('examples/library/typed.ts', {
      options: [join(root, 'test/fixtures/run-typescript.mjs')],
    })
    expect({ code, output }).toEqual({ code: 0, output: 'sent: 1\nPAYLOAD_INVALID\n' })
  })

  test('examples/library/app.mjs performs what is due and what that enqueues', async () => {
    const { code, output } = await run('examples/library/app.mjs', { stopAfter: 'mail: done' })
    expect(output).toMatch(/digest: done in \d+ ms/)
    expect(code).toBe(0)
  })

  test('examples/moving/move.mjs moves a store and goes on in the new one', async () => {
    const { code, output } = await run('examples/moving/move.mjs', {})
    expect(output.trim().split('\n')).toEqual([
      'moved 1 run with all its attempts',
      'report is done in SQLite: made',
    ])
    expect(code).toBe(0)
  })

  test('examples/operating/drain.mjs finishes what it has, takes nothing more, and stops', async () => {
    const { code, output } = await run('examples/operating/drain.mjs', {})
    expect(output.trim().split('\n')).toEqual([
      'report began',
      'takes nothing more, 1 run to finish',
      'report is done',
      'stopped; what it did not take waits for another',
    ])
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

  test('F1, F13: examples/assets/assets.mjs schedules, follows and backfills', async () => {
    const { code, output } = await run('examples/assets/assets.mjs', {})
    expect(output.trim().split('\n')).toEqual([
      'daily_report is due at 0 2 * * *',
      'hourly_metrics is due at 0 * * * *',
      'realtime_metrics is due at */15 * * * *',
      'done {"partition":"2025-11-02","hours":25}',
      'upstream 2025-11-02 derived from the events of 2025-11-02',
      'would make 2025-11-01 2025-11-03 2025-11-04 | leaves alone 2025-11-02',
      '3 of 3 done',
      '2025-11-01 done, 2025-11-02 done, 2025-11-03 done, 2025-11-04 done',
      '{ removed: true } { removed: false }',
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
      expect.stringMatching(/^PARTITION_INVALID: "2024-12-31" is before the first partition/),
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
    const lines = output.trim().split('\n')
    // Whether the own run or the offer comes first is a race by its nature.
    expect(lines.slice(0, 3).toSorted()).toEqual([
      'check_status: all well',
      'notify: notified user1',
      'offered: notify for user1',
    ])
    expect(lines.indexOf('offered: notify for user1')).toBeLessThan(lines.indexOf('notify: notified user1'))
    expect(lines.slice(3)).toEqual([
      'rota_pool_tasks_submitted_total 2',
      'rota_pool_tasks_completed_total 2',
      'rota_pool_tasks_failed_total 0',
    ])
    expect(code).toBe(0)
  })

  test('F4, F5, F11: examples/sensors/app.mjs finds each order once, however it comes', async () => {
    const { code, output } = await run('examples/sensors/app.mjs', {})
    expect(output.trim().split('\n')).toEqual([
      'order-1 is about 2026-01-05',
      'order-2 is about 2026-01-06',
      'duplicate',
      'order-3 is about 2026-01-07',
      'accepted',
      'preview: order-2, new: false',
      'preview: order-1, new: false',
      'new_orders is ok and has found 3',
    ])
    expect(code).toBe(0)
  })

  test('examples/command-jobs/bot.mjs adds, runs, cleans up and removes command jobs', async () => {
    const { code, output } = await run('examples/command-jobs/bot.mjs', {})
    const told = output
      .trim()
      .replace(/job_[0-9a-f]{32}/g, 'job_…')
      .split('\n')
    expect(told.filter((line) => !line.includes(': done'))).toEqual([
      'recurring, scheduled, next at 09:00 UTC',
      'DEFINITION_CONFLICT',
      expect.stringContaining('hour 25 is not within 0-23, at position 2'),
      'remind for user1, chat 42 (cron_reminder_…)',
      'cleaned up: reminder',
      'left: check_status',
    ])
    expect(told).toEqual(expect.arrayContaining(['job_…: done', 'reminder: done']))
    expect(code).toBe(0)
  })

  test('examples/command-jobs/jobs.jsonl is imported and exported to the byte', async () => {
    const path = join(root, 'examples/command-jobs/jobs.jsonl')
    const app = rota({ store: 'memory:' })
    const lines = await app.commands.import(path)
    expect(lines.map(({ became }) => became)).toEqual(['added', 'added', 'added', 'added'])
    const sorted = (text: string): string[] => text.split('\n').toSorted()
    expect(sorted(await app.commands.export())).toEqual(sorted(readFileSync(path, 'utf8')))
    await app.close()
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
