import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../../../../test/repository.js'
import { emptyDirectory, rota, type Ended } from '../../../../test/cli/rota.js'

const on = { SCHEDULER_ENABLED: 'true', WORKER_ENABLED: 'true' }

/** A queue that another program fills, and a plan with one entry. */
class Shared {
  readonly cwd = emptyDirectory()
  /** When the entry is due, to the second. */
  readonly at: string
  readonly jobId: string
  readonly runId: string

  constructor(seconds: number) {
    const dueAt = Date.now() + seconds * 1000
    this.at = `${new Date(dueAt).toISOString().slice(0, 19)}Z`
    const [day = '', time = ''] = new Date(dueAt + 7 * 3_600_000).toISOString().split('T')
    const base = `${day.replaceAll('-', '')}_${time.slice(0, 5).replace(':', '')}`
    const text = `${this.at}|pipeline.web.yml|${base}`
    this.jobId = createHash('sha256').update(text).digest('hex').slice(0, 12)
    this.runId = `${base}_${this.jobId}`
    cpSync(join(root, 'examples/plans'), this.cwd, { recursive: true })
    const entry = `{ publish_at: "${this.at}", pipeline_path: pipeline.web.yml }`
    writeFileSync(join(this.cwd, 'plan.yaml'), `schema_version: v1\nentries:\n  - ${entry}\n`)
  }

  get name(): string {
    return `${this.at.replace(/[-:]/g, '')}_${this.jobId}.json`
  }

  /** Puts a file of this run into a directory, with the given text if there is one. */
  put(folder: string, extra: object = {}, text?: string): string {
    const path = join(this.cwd, 'data/queue', folder)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const file = {
      schema_version: 'v1',
      job_id: this.jobId,
      scheduled_for: this.at,
      pipeline_path: 'pipeline.web.yml',
      run_id: this.runId,
      ...extra,
    }
    writeFileSync(join(path, this.name), text ?? JSON.stringify(file))
    return join(path, this.name)
  }

  files(): Record<string, string[]> {
    const folders = ['pending', 'running', 'done', 'failed']
    const listed = folders.map((folder) => {
      const path = join(this.cwd, 'data/queue', folder)
      return [folder, existsSync(path) ? readdirSync(path) : []] as const
    })
    return Object.fromEntries(listed.filter(([, names]) => names.length > 0))
  }

  async rota(...args: string[]): Promise<Ended> {
    return await rota(args, { cwd: this.cwd, env: on })
  }
}

const past = '2026-01-05T02:00:00Z'
const future = '2999-01-05T02:00:00Z'

describe('a queue that another program also uses', () => {
  it.each([
    ['running', { status: 'running', lease_until: future }, undefined],
    ['done', { status: 'done' }, undefined],
    ['failed', { status: 'failed' }, undefined],
    ['pending', {}, '{ "torn'],
  ])(
    'Q6: an entry that has a file in %s is not enqueued, and the file stays as it is',
    async (folder, extra, text) => {
      const shared = new Shared(300)
      const path = shared.put(folder, extra, text)
      const before = readFileSync(path, 'utf8')
      for (const dry of [['--dry-run'], []]) {
        const pass = await shared.rota('schedule', '--plan', 'plan.yaml', '--json', ...dry)
        expect(JSON.parse(pass.stdout)).toMatchObject({
          enqueued_job_ids: [],
          skipped_entries: [{ run_id: shared.runId, code: 'already_enqueued' }],
        })
      }
      expect(readFileSync(path, 'utf8')).toBe(before)
      expect(shared.files()).toEqual({ [folder]: [shared.name] })
    },
  )

  it('Q6: an entry that another program has put into pending is one run, and not enqueued here', async () => {
    const shared = new Shared(300)
    shared.put('pending', { params: { from: 'elsewhere' } })
    // Other params under the same id would be another run.
    expect(await shared.rota('schedule', '--plan', 'plan.yaml')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[DEFINITION_CONFLICT]') as unknown,
    })
    shared.put('pending')
    const pass = await shared.rota('schedule', '--plan', 'plan.yaml', '--json')
    expect(JSON.parse(pass.stdout)).toMatchObject({
      enqueued_job_ids: [],
      skipped_entries: [{ code: 'already_enqueued' }],
    })
    const worked = await shared.rota('work', '--ahead', '10', '--json')
    expect(JSON.parse(worked.stdout)).toMatchObject({ decision: 'done', job_id: shared.jobId, attempts: 1 })
    expect(JSON.parse((await shared.rota('work', '--ahead', '10', '--json')).stdout).job_id).toBe('none')
    expect(shared.files()).toEqual({ done: [shared.name] })
  })

  it('Q7: a run that another program left in running is performed by rota work when its lease has expired', async () => {
    const shared = new Shared(-60)
    shared.put('running', { status: 'running', attempts: 1, lease_until: future })
    expect((await shared.rota('work')).stdout).toContain('nothing is due')
    shared.put('running', { status: 'running', attempts: 1, lease_until: past })
    const worked = await shared.rota('work', '--json')
    expect(JSON.parse(worked.stdout)).toMatchObject({
      decision: 'done',
      job_id: shared.jobId,
      run_id: shared.runId,
      attempts: 2,
    })
    expect(shared.files()).toEqual({ done: [shared.name] })
  })

  it('Q7: rota queue requeue also takes it back, and counts it', async () => {
    const shared = new Shared(-60)
    const path = shared.put('running', { status: 'running' })
    expect((await shared.rota('queue', 'requeue', '--json')).stdout).toBe('{"requeued":0}\n')
    const old = Date.now() / 1000 - 31
    utimesSync(path, old, old)
    expect((await shared.rota('queue', 'requeue', '--json')).stdout).toBe('{"requeued":1}\n')
    expect(shared.files()).toEqual({ pending: [shared.name] })
  })

  it('Q8: list, show and the commands that change something know the same runs', async () => {
    const shared = new Shared(-60)
    shared.put('pending')
    const listed = JSON.parse((await shared.rota('queue', 'list', '--json')).stdout)
    const shown = JSON.parse((await shared.rota('queue', 'show', shared.jobId, '--json')).stdout)
    expect(listed).toEqual([expect.objectContaining({ state: 'pending', runId: shared.runId })])
    expect(shown).toMatchObject({ ...listed[0], run: null })
    expect((await shared.rota('queue', 'show', shared.runId)).stdout).toContain('it is not imported yet')
    // Reading changed nothing, and created no store.
    expect(readdirSync(join(shared.cwd, 'data/queue'))).toEqual(['pending'])
    const retried = await shared.rota('queue', 'retry', shared.jobId)
    expect(retried).toMatchObject({ code: 1, stderr: expect.stringContaining('is pending; only') })
    expect(JSON.parse((await shared.rota('queue', 'show', shared.jobId, '--json')).stdout).run).not.toBeNull()
  })

  it('Q8: a run that another program has finished is listed and shown, but neither retried nor purged', async () => {
    const shared = new Shared(-60)
    const path = shared.put('failed', { status: 'failed', attempts: 1 })
    const before = readFileSync(path, 'utf8')
    expect((await shared.rota('queue', 'show', shared.jobId)).stdout).toMatch(/state +failed/)
    const retried = await shared.rota('queue', 'retry', shared.jobId)
    expect(retried.code).not.toBe(0)
    expect(retried.stderr).toContain('belongs to another program')
    const purged = await shared.rota('queue', 'purge', '--older-than', '0s')
    expect(purged).toMatchObject({ code: 0, stdout: 'removed 0 runs\n' })
    expect(purged.stderr).toContain('1 run of other programs')
    const json = await shared.rota('queue', 'purge', '--older-than', '0s', '--json')
    expect([JSON.parse(json.stdout), json.stderr]).toEqual([{ purged: 0, left: 1 }, ''])
    expect(readFileSync(path, 'utf8')).toBe(before)
  })
})
