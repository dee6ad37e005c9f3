import {
  cpSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { root } from '../../../../test/repository.js'
import { emptyDirectory, rota, type Ended } from '../../../../test/cli/rota.js'

let cwd: string

beforeEach(() => {
  cwd = emptyDirectory()
  cpSync(join(root, 'examples/plans'), cwd, { recursive: true })
})

async function work(...args: string[]): Promise<Ended> {
  return await rota(['work', ...args], { cwd, env: { WORKER_ENABLED: '1' } })
}

/** Puts a file into `pending` as another program does; two minutes old, so that nobody is still writing it. */
function put(name: string, text: string | object): void {
  const folder = join(cwd, 'data/queue/pending')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, name), typeof text === 'string' ? text : JSON.stringify(text))
  const old = Date.now() / 1000 - 120
  utimesSync(join(folder, name), old, old)
}

function putRun(id: string, at: string, pipeline = 'pipeline.web.yml'): void {
  put(`${at.replace(/[-:]/g, '')}_${id}.json`, {
    schema_version: 'v1',
    job_id: id,
    scheduled_for: at,
    pipeline_path: pipeline,
    run_id: `morning_${id}`,
  })
}

function files(folder: string): string[] {
  const path = join(cwd, 'data/queue', folder)
  return existsSync(path) ? readdirSync(path).toSorted() : []
}

function pipeline(steps: object): void {
  writeFileSync(join(cwd, 'pipeline.web.yml'), JSON.stringify({ steps }))
}

describe('a file in pending that is not a run', () => {
  it('Q7: is moved to failed with its reason, and the call exits with 1; other names are ignored with a warning', async () => {
    putRun('good', '2026-01-05T02:00:00Z')
    put('20260105T030000Z_bad.json', '{ "torn')
    put('readme.txt', 'mine')
    const warning = 'warning: pending/readme.txt is not named like a run; it is ignored\n'
    const dry = await work('--dry-run')
    expect(dry).toMatchObject({ code: 0, stderr: warning })
    expect(dry.stdout).toContain('pending/20260105T030000Z_bad.json: it is not JSON; it would be moved')
    expect(files('pending').length).toBe(3)
    const moved = await work('--json')
    expect(moved).toMatchObject({ code: 1, stderr: warning })
    const summary = JSON.parse(moved.stdout)
    expect(summary).toMatchObject({
      job_id: 'bad',
      run_id: '',
      decision: 'failed',
      error: { code: 'job_invalid', message: expect.stringContaining('is not JSON') as unknown },
    })
    const written = readFileSync(join(cwd, 'output/worker/artifacts/worker_summary_bad.json'), 'utf8')
    expect(JSON.parse(written)).toEqual(summary)
    expect(files('failed')).toEqual(['20260105T030000Z_bad.error.json', '20260105T030000Z_bad.json'])
    const listed = JSON.parse((await rota(['queue', 'list', '--json'], { cwd })).stdout)
    expect(listed.map((item: { state: string; jobId: string }) => [item.state, item.jobId])).toEqual([
      ['pending', 'good'],
      ['invalid', null],
      ['failed', 'bad'],
    ])
    expect((await work()).code).toBe(0)
    expect(files('done')).toEqual(['20260105T020000Z_good.json'])
    const doctor = await rota(['doctor', '--store', 'files:data/queue'], { cwd })
    expect(doctor.stdout).toContain('readme.txt is not named like a run')
    expect(doctor.stdout).not.toContain('backup')
    expect(doctor.code).toBe(0)
  })

  it('Q7: is ignored with a warning if it must not be moved', async () => {
    mkdirSync(join(cwd, 'data/queue/pending/20260105T020000Z_a1.json'), { recursive: true })
    symlinkSync('elsewhere', join(cwd, 'data/queue/pending/20260105T020000Z_a2.json'))
    const old = Date.now() / 1000 - 120
    utimesSync(join(cwd, 'data/queue/pending/20260105T020000Z_a1.json'), old, old)
    lutimesSync(join(cwd, 'data/queue/pending/20260105T020000Z_a2.json'), old, old)
    for (const dry of [[], ['--dry-run']]) {
      expect(await work(...dry)).toMatchObject({
        code: 0,
        stdout: 'nothing is due\n',
        stderr:
          'warning: pending/20260105T020000Z_a1.json is not a file; it is ignored\n' +
          'warning: pending/20260105T020000Z_a2.json is a symbolic link; it is ignored\n',
      })
    }
    expect(files('pending').length).toBe(2)
  })
})

describe('the steps of a pipeline under rota work', () => {
  it('Q9: use the functions of the config, and get the ids of the plan', async () => {
    writeFileSync(
      join(cwd, 'rota.config.mjs'),
      'export default { steps: { tell: ({ runId, jobId, config }) => `${config} ${jobId} ${runId}` } }',
    )
    const script = 'console.log(process.env.PIPELINE_JOB_ID, process.env.PIPELINE_RUN_ID)'
    pipeline([{ uses: 'tell', config: 'hello' }, { run: ['node', '-e', script] }])
    putRun('a1', '2026-01-05T02:00:00Z')
    const worked = await work()
    expect(worked).toMatchObject({ code: 0, stdout: expect.stringContaining('a1 morning_a1') as unknown })
    const file = readFileSync(join(cwd, 'data/queue/done/20260105T020000Z_a1.json'), 'utf8')
    expect(JSON.parse(file).rota.result.steps['step-1']).toBe('hello a1 morning_a1')
  })

  it('Q9: use those of --config, which is read before anything is claimed', async () => {
    writeFileSync(join(cwd, 'other.mjs'), 'export default { steps: { tell: () => 1 } }')
    pipeline([{ uses: 'tell' }])
    putRun('a1', '2026-01-05T02:00:00Z')
    const refused = await work('--config', 'none.mjs')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('none.mjs') as unknown })
    expect(files('pending').length).toBe(1)
    expect((await work('--config', 'other.mjs')).code).toBe(0)
  })

  it('Q12: are reported as timed_out if they take too long', async () => {
    pipeline([{ id: 'slow', run: ['node', '-e', 'setInterval(() => {}, 1000)'], timeout: '50ms' }])
    putRun('a1', '2026-01-05T02:00:00Z')
    const worked = await work('--json')
    expect(worked.code).toBe(1)
    expect(JSON.parse(worked.stdout).error).toMatchObject({ code: 'timed_out', step: 'slow' })
  })
})

describe('rota work without a run to perform', () => {
  it('Q7, Q11: says when something is due, and that everything is frozen', async () => {
    putRun('a1', '2999-01-05T02:00:00Z')
    const next = 'nothing is due; the next run is due at 2999-01-05T02:00:00Z'
    expect((await work('--dry-run')).stdout).toBe(`${next}\n`)
    expect(JSON.parse((await work('--json')).stdout)).toMatchObject({
      job_id: 'none',
      error: { code: 'queue_empty', message: next },
    })
    const store = ['--store', 'files:data/queue']
    await rota(['freeze', '--reason', 'stocktaking', '--by', 'ann', ...store], { cwd })
    for (const dry of [[], ['--dry-run']]) {
      const held = await work('--ahead', '1', ...dry, '--json')
      expect(JSON.parse(held.stdout).error).toEqual({
        code: 'worker_disabled',
        message: 'everything is frozen, by ann: stocktaking',
      })
    }
  })
})
