import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../../../../test/repository.js'
import { emptyDirectory, rota, start, tooWide } from '../../../../test/cli/rota.js'

/** A copy of the example, with a plan whose entry is due this many minutes from now. */
function exampleWith(minutes: readonly number[]): string {
  const directory = emptyDirectory()
  cpSync(join(root, 'examples/plans'), directory, { recursive: true })
  const entries = minutes.map((minute) => {
    const at = new Date(Date.now() + minute * 60_000).toISOString().slice(0, 19)
    return `  - { publish_at: "${at}Z", pipeline_path: pipeline.web.yml, params: { topic_seed: "${minute}" } }`
  })
  writeFileSync(join(directory, 'plan.yaml'), `schema_version: v1\nentries:\n${entries.join('\n')}\n`)
  return directory
}

describe('rota plan check', () => {
  it('Q2: shows the sample in its zone and in UTC, with its id', async () => {
    const directory = exampleWith([])
    const { code, stdout, stderr } = await rota(['plan', 'check', 'schedule_plan.yaml'], { cwd: directory })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(tooWide(stdout)).toEqual([])
    expect(stdout).toContain('2026-01-05 09:00:00 +07:00  2026-01-05T02:00:00Z')
    expect(stdout).toContain('96b0037ff184')
    expect(stdout).toContain('1 entry')
  })

  it('Q2: marks entries as missed, due or future', async () => {
    const cwd = exampleWith([-60 * 25, -60 * 23, 60])
    const { code, stdout } = await rota(['plan', 'check', 'plan.yaml', '--json'], { cwd })
    expect(code).toBe(0)
    const { timezone, entries } = JSON.parse(stdout)
    expect(timezone).toBe('Asia/Bangkok')
    expect(entries.map((entry: { standing: string }) => entry.standing)).toEqual(['missed', 'due', 'future'])
    expect(entries[2]).toMatchObject({ pipelinePath: 'pipeline.web.yml', params: { topic_seed: '60' } })
    expect(entries[2].runId).toBe(`${entries[2].runIdBase}_${entries[2].jobId}`)
  })

  it('Q2: lists all faults and exits with 2, including those of pipelines that will run', async () => {
    const cwd = exampleWith([60])
    writeFileSync(
      join(cwd, 'broken.yaml'),
      'schema_version: v2\nentries: [{ publish_at: "2026-13-01T00:00" }]\n',
    )
    const broken = await rota(['plan', 'check', 'broken.yaml'], { cwd })
    expect({ code: broken.code, stdout: broken.stdout }).toEqual({ code: 2, stdout: '' })
    expect(broken.stderr.trimEnd().split('\n')).toEqual([
      'error: broken.yaml has 3 faults [PLAN_INVALID]',
      '  broken.yaml:1:1: schema_version: "v2" is not a version of plans (allowed: "v1")',
      expect.stringMatching(/^ {2}broken\.yaml:2:11: entries\[0\]: pipeline_path is missing/),
      expect.stringMatching(
        /^ {2}broken\.yaml:2:13: entries\[0\]\.publish_at: .*month 13 is not within 1 to 12/,
      ),
    ])
    writeFileSync(join(cwd, 'pipeline.web.yml'), 'steps: []\n')
    const pipeline = await rota(['plan', 'check', 'plan.yaml'], { cwd })
    expect(pipeline.code).toBe(2)
    expect(pipeline.stderr).toContain('pipeline.web.yml:1:1: steps: a list is not a list of steps')
    const word = await rota(['plan', 'chekc', 'plan.yaml'], { cwd })
    expect(word.code).toBe(2)
  })
})

describe('rota up --plan', () => {
  it('Q2: performs the due entries of a plan without a config, and not again after a restart', async () => {
    const cwd = exampleWith([-5])
    const running = start(['up', '--plan', 'plan.yaml', '--json'], { cwd })
    await running.said(/"run:ended"/)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
    const runs = await rota(['runs', '--json'], { cwd })
    const [run, second] = JSON.parse(runs.stdout)
    expect(second).toBe(undefined)
    expect(run).toMatchObject({
      job: 'pipeline',
      state: 'done',
      labels: { run_id: expect.stringMatching(/^\d{8}_\d{4}_[0-9a-f]{12}$/) },
      result: { pipeline: 'web', steps: { draft: { stdout: 'a draft about -5' } } },
    })
    const again = start(['up', '--plan', 'plan.yaml'], { cwd })
    await again.said('rota is up')
    again.child.kill('SIGTERM')
    await again.ended
    expect(JSON.parse((await rota(['runs', '--json'], { cwd })).stdout).length).toBe(1)
  })

  it('Q2: refuses a plan with a fault, and writes nothing', async () => {
    const cwd = exampleWith([5])
    writeFileSync(join(cwd, 'plan.yaml'), 'schema_version: v1\n')
    const { code, stderr } = await rota(['up', '--plan', 'plan.yaml'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain('plan.yaml:1:1: (whole): entries are missing')
  })
})

describe('rota plan enqueue', () => {
  it('Q4: enqueues an entry that an engine missed, with the command that why prints', async () => {
    const cwd = exampleWith([-60 * 48])
    const up = start(['up', '--store', 'sqlite:rota.db', '--plan', 'plan.yaml'], { cwd })
    await up.said('missed')
    up.child.kill('SIGTERM')
    await up.ended
    const { stdout } = await rota(['plan', 'check', 'plan.yaml', '--json'], { cwd })
    const { jobId } = JSON.parse(stdout).entries[0] as { jobId: string }
    const why = ['why', `plan:${jobId}`, '-3d', '--store', 'sqlite:rota.db', '--json']
    const { todo } = JSON.parse((await rota(why, { cwd })).stdout) as { todo: string }
    expect(todo).toBe(`rota plan enqueue plan.yaml ${jobId} --store sqlite:rota.db`)
    const enqueued = await rota(todo.split(' ').slice(1), { cwd })
    expect(enqueued).toMatchObject({ code: 0, stdout: expect.stringMatching(/^enqueued /) as unknown })
    const answer = JSON.parse((await rota(why, { cwd })).stdout) as { todo?: string; beside: unknown[] }
    expect([answer.todo, answer.beside.length]).toEqual([undefined, 1])
  })
})
