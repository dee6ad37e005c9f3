import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runHere } from '../../../../test/cli/in-process.js'
import { emptyDirectory, main, rota, type Ended } from '../../../../test/cli/rota.js'

/** A store with runs that wait, in a directory of its own. */
async function waiting(
  count: number,
  cwd = emptyDirectory(),
): Promise<(...args: string[]) => Promise<Ended>> {
  const on = (...args: string[]): Promise<Ended> => runHere(args, { directory: cwd })
  expect(await on('add', 'work', '--every', '1h', '--', 'true')).toMatchObject({ code: 0 })
  for (let i = 0; i < count; i++)
    expect(await on('enqueue', 'work', '--delay', '1h')).toMatchObject({ code: 0 })
  return on
}

describe('retry and cancel with a filter', () => {
  it.skipIf(!existsSync('/usr/bin/script'))('ask on a terminal, and show how far they are', async () => {
    const cwd = emptyDirectory()
    await waiting(2, cwd)
    const line = `stty cols 200 rows 24; ${process.execPath} ${main} cancel --job work`
    const terminal = spawn('/usr/bin/script', ['-qfec', line, '/dev/null'], { cwd })
    let shown = ''
    for await (const chunk of terminal.stdout as AsyncIterable<Buffer>) {
      const hadAsked = shown.includes('2 runs')
      shown += String(chunk)
      if (!hadAsked && shown.includes('2 runs')) terminal.stdin.write('y')
    }
    expect(shown).toContain('cancel 2 runs')
    // The progress line is cleared before the result is printed.
    const lines = shown.replaceAll('\r\u001b[K', '|')
    expect(lines).toMatch(/\|cancel 0 of 2.*\|cancel 2 of 2 \(bulk \w+, done\)/s)
    expect((await rota(['runs', '--state', 'cancelled', '--json'], { cwd })).stdout).toContain('"cancelled"')
  })

  it('say what they would do, and do it with --yes', async () => {
    const on = await waiting(2)
    const dry = await on('cancel', '--job', 'work', '--dry-run', '--json')
    expect(JSON.parse(dry.stdout)).toMatchObject({ dryRun: true, count: 2, capped: false, skipped: [] })
    const asked = await on('cancel', '--job', 'work')
    expect(asked).toMatchObject({ code: 2, stdout: '' })
    expect(asked.stderr).toMatch(/would cancel 2 runs; .*--yes does it/)
    const done = await on('cancel', '--job', 'work', '--reason', 'wrong day', '--yes')
    expect(done).toMatchObject({ code: 0 })
    expect(done.stdout).toMatch(/^cancel 2 of 2 \(bulk [0-9a-z]{16}, done\)\n$/)
    const retried = await on('retry', '--filter', 'state:cancelled', '--limit', '1', '--json')
    expect(JSON.parse(retried.stdout)).toMatchObject({ action: 'retry', state: 'done', total: 1, done: 1 })
    const listed = JSON.parse((await on('bulk', 'list', '--json')).stdout) as {
      action: string
      filter: string
    }[]
    expect(listed).toMatchObject([
      { action: 'retry', filter: 'state:cancelled' },
      { action: 'cancel', filter: 'job:work', reason: 'wrong day' },
    ])
    const shown = await on('bulk', 'show', (listed[0] as unknown as { id: string }).id)
    expect(shown.stdout).toContain('runs: state:cancelled')
  })

  it('are refused with both a run and a filter, with neither, and with an invalid filter', async () => {
    const on = await waiting(1)
    const [first] = JSON.parse((await on('runs', '--json', '--state', 'pending')).stdout) as { id: string }[]
    const dry = await on('cancel', first?.id ?? '', '--dry-run')
    expect(dry).toMatchObject({ code: 0 })
    expect((await on('cancel', first?.id ?? '', '--yes')).stderr).toContain(
      '`--yes` works only with a filter',
    )
    expect(await on('show', first?.id ?? '')).toMatchObject({
      stdout: expect.stringContaining('pending') as string,
    })
    expect((await on('retry')).stderr).toContain('missing argument <run>')
    expect((await on('retry', '01k9w8m2v4', '--job', 'work')).stderr).toContain(
      '<run> and a filter are given',
    )
    const wrong = await on('retry', '--filter', 'sate:failed', '--origin', 'elsewhere')
    expect(wrong).toMatchObject({ code: 2 })
    expect(wrong.stderr).toContain('--origin')
    expect(await on('bulk', 'abort', 'nothing')).toMatchObject({ code: 2 })
  })
})
