import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { at, Desk, entry, on } from './desk.js'
import { rota, type Ended } from '../../../../test/cli/rota.js'

describe('rota schedule', () => {
  it('Q12: the summary of the day has every pass, however many schedulers write it at the same time', async () => {
    const desk = new Desk([])
    const count = 8
    await Promise.all(Array.from({ length: count }, () => desk.schedule(['--dry-run'])))
    const days = desk.artifacts('scheduler').map((day) => desk.read(`output/scheduler/artifacts/${day}`))
    expect(days.reduce((sum, day) => sum + 1 + (day['passes'] as unknown[]).length, 0)).toBe(count)
  })

  it('Q4: a missed entry is enqueued once, with the command that the pass prints', async () => {
    const desk = new Desk([entry(at(-7200))])
    const missed = await desk.schedule(['--queue-dir', 'my queue'])
    const [, command = ''] =
      /^missed .*; `(rota plan enqueue plan\.yaml [0-9a-f]{12} .*)` enqueues it$/m.exec(missed.stdout) ?? []
    expect(command).toMatch(/ --queue-dir 'my queue'$/)
    const args = command
      .replace("'my queue'", 'my_queue')
      .split(' ')
      .slice(1)
      .map((word) => word.replace('_queue', ' queue'))
    const asked = async (...more: string[]): Promise<Ended> =>
      await rota([...args, ...more], { cwd: desk.cwd })
    expect((await asked('--dry-run')).stdout).toMatch(/^would enqueue \d{8}_\d{4}_[0-9a-f]{12}, due /)
    expect(await asked()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^enqueued /) as unknown })
    expect(JSON.parse((await asked('--json')).stdout)).toMatchObject({
      outcome: 'already_enqueued',
      runId: expect.any(String) as unknown,
      dryRun: false,
    })
    expect((await asked('--store', 'files:x')).code).toBe(2)
    const work = await rota(['work', '--queue-dir', 'my queue'], { cwd: desk.cwd, env: on })
    expect(work.code).toBe(0)
  })

  it('Q4: a plan is the same under two spellings of its path, and its first pass looks back on request', async () => {
    const desk = new Desk([])
    symlinkSync(desk.cwd, join(desk.cwd, 'link'))
    const linked = await rota(['schedule', '--plan', 'link/plan.yaml'], { cwd: desk.cwd, env: on })
    expect(linked.code).toBe(0)
    desk.plan([entry(at(-60))])
    const pretended = await desk.schedule([
      '--dry-run',
      '--json',
      '--look-back',
      '1h',
      '--queue-dir',
      'other',
    ])
    expect(JSON.parse(pretended.stdout).enqueued_job_ids).toHaveLength(1)
    // There was a pass a moment ago, so earlier entries were missed.
    const known = await desk.schedule(['--json', '--look-back', '1h'])
    expect(JSON.parse(known.stdout).skipped_entries).toMatchObject([{ code: 'entry_missed' }])
  })

  it('Q5: other params under an enqueued id are refused, even if another program enqueued it', async () => {
    const publishAt = at(120)
    const desk = new Desk([entry(publishAt, ', params: { a: 1 }')])
    await desk.schedule()
    const [name = ''] = desk.files('pending')
    desk.plan([entry(publishAt, ', params: { a: 2 }')])
    const refused = { code: 2, stderr: expect.stringMatching(/it was enqueued with other params/) as unknown }
    expect(await desk.schedule()).toMatchObject(refused)
    mkdirSync(join(desk.cwd, 'foreign/done'), { recursive: true })
    cpSync(join(desk.cwd, 'data/queue/pending', name), join(desk.cwd, 'foreign/done', name))
    const { rota: _, ...file } = desk.read(`foreign/done/${name}`)
    writeFileSync(join(desk.cwd, 'foreign/done', name), JSON.stringify({ ...file, status: 'done' }))
    expect(await desk.schedule(['--queue-dir', 'foreign'])).toMatchObject(refused)
    desk.plan([entry(publishAt, ', params: { a: 1 }')])
    expect((await desk.schedule(['--queue-dir', 'foreign', '--json'])).stdout).toContain('already_enqueued')
  })
})
