import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runHere } from '../../../../test/cli/in-process.js'
import { emptyDirectory, start, tooWide, type Ended } from '../../../../test/cli/rota.js'

const example = fileURLToPath(new URL('../../../../examples/assets/', import.meta.url))

/** A directory with the assets of the example, and an engine that runs there. */
async function assetCommand(): Promise<(...args: string[]) => Promise<Ended>> {
  const cwd = emptyDirectory()
  for (const file of ['rota.config.yaml', 'make.mjs']) cpSync(join(example, file), join(cwd, file))
  const up = start(['up'], { cwd })
  onTestFinished(async () => {
    up.child.kill('SIGTERM')
    await up.ended
  })
  await up.said('rota is up')
  return (...args) => runHere(['asset', ...args], { directory: cwd })
}

describe('rota asset', () => {
  it('F13: produces, shows, plans and backfills partitions, as text and as JSON', async () => {
    const asset = await assetCommand()
    const listed = await asset('list')
    expect(tooWide(listed.stdout)).toEqual([])
    expect(listed.stdout).toMatch(/daily_report +daily America\/New_York +raw_events +when upstream is done/)
    expect(JSON.parse((await asset('list', '--json')).stdout)).toHaveLength(4)

    const made = await asset('materialize', 'raw_events', '--partition', '2025-01-15')
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('made raw_events for 2025-01-15') as unknown,
    })
    const wrong = await asset('materialize', 'raw_events', '--partition', '2025-02-30')
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('2025-02 has the days') as unknown,
    })

    const range = ['--from', '2025-01-10', '--to', '2025-01-16']
    const plan = await asset('backfill', 'raw_events', ...range)
    expect(plan.stdout).toMatch(/would make 6 partitions of raw_events/)
    expect(plan.stdout).toMatch(/skips 1 partition \(done\): 2025-01-15/)
    expect(plan.stdout).toMatch(/--yes starts it/)
    const ended = await asset('backfill', 'raw_events', ...range, '--concurrency', '2', '--yes', '--wait')
    expect(ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/6 of 6 done, 0 failed, 0 left/) as unknown,
    })

    const grid = await asset('grid', 'raw_events', ...range)
    expect(grid.stdout).toContain('raw_events  DDDDDDD\n')
    expect(grid.stdout).toContain('. missing   R running   D done   F failed   S stale')
    // A range of days leaves out hourly assets, and says so.
    const days = await asset('grid', ...range)
    expect(days).toMatchObject({
      code: 0,
      stderr: 'left out, as they have no such partitions: hourly_metrics\n',
      stdout: expect.stringContaining('raw_events        DDDDDDD\n') as unknown,
    })
    expect((await asset('stale', ...range)).stdout).not.toContain('hourly_metrics')
    const all = await asset('grid')
    expect(tooWide(all.stdout)).toEqual([])
    const json = JSON.parse(
      (await asset('grid', 'raw_events', '--from', '2025-01-10', '--to', '2025-01-10', '--json')).stdout,
    ) as unknown
    expect(json).toMatchObject([
      { asset: 'raw_events', partitions: [{ partition: '2025-01-10', state: 'done' }] },
    ])
    const [listedOne] = JSON.parse((await asset('list', 'raw_events', '--json')).stdout) as [object]
    const shownOne = await asset('show', 'raw_events', '--from', '2025-01-15', '--to', '2025-01-15', '--json')
    expect(JSON.parse(shownOne.stdout)).toEqual({
      ...listedOne,
      standing: [expect.objectContaining({ partition: '2025-01-15', state: 'done' })],
    })
    const shown = await asset('show', 'raw_events', '--from', '2025-01-15', '--to', '2025-01-17')
    expect(shown.stdout).toMatch(/2025-01-15 +done .*\n2025-01-16 +done .*\n2025-01-17 +missing/)
    expect((await asset('stale', 'raw_events', ...range)).stdout).toBe('nothing is stale\n')
  }, 60_000)

  it('F13: backfills at a pace, and reports what is impossible', async () => {
    const asset = await assetCommand()
    const range = ['--from', '2024-01-01', '--to', '2024-12-31']
    const started = await asset(
      'backfill',
      'realtime_metrics',
      ...range,
      '--concurrency',
      '1',
      '--pace',
      '5/1h',
      '--yes',
      '--json',
    )
    expect(JSON.parse(started.stdout)).toMatchObject({ total: 366, concurrency: 1, pace: '5/1h' })
    for (const [args, message] of [
      [['paint'], 'unknown subcommand `paint`'],
      [['show'], 'missing argument <asset>'],
      [['list', '--yes'], '`rota asset list` has no option `--yes` (allowed: with backfill)'],
      [['backfill', 'realtime_metrics', '--only', 'old'], 'unknown value'],
      [['backfill', 'raw_event', ...range], 'no asset is named raw_event; did you mean raw_events?'],
      [['backfill', 'raw_events', '--from', '2025-01-02', '--to', '2025-01-01'], 'is reversed'],
      [['backfill', 'raw_events', ...range, '--pace', '5', '--yes'], '--pace: "5" is not a pace'],
      [['backfill', 'raw_events'], 'missing option `--from` (allowed: the label of the first partition, or'],
      [
        ['backfill', 'raw_events', '--from', '2025-01-01'],
        'error: missing option `--to` (allowed: the label of the last partition, or --partition',
      ],
      [['grid', 'nothing'], 'no asset is named nothing'],
      [['list', 'nothing'], 'no asset is named nothing'],
      [
        ['materialize', 'raw_event', '--partition', '2025-01-01'],
        'no asset is named raw_event; did you mean',
      ],
      [
        ['materialize', 'raw_events', '--partition', '2025-01-01', '--partition', '2025-01-02'],
        '`--partition` is given twice',
      ],
      [['backfill', '--yes'], 'missing argument <asset>'],
      [['grid', '--from', 'banana'], 'is not the label of a day'],
    ] as const) {
      const ended = await asset(...args)
      expect(ended.code).toBe(2)
      expect(ended.stderr).toContain(message)
    }
  }, 60_000)
})
