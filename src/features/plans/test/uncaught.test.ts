import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { emptyDirectory, rota, type Ended } from '../../../../test/cli/rota.js'
import { wait } from '../../../../test/cli/uncaught-app.js'

describe('rota work and the functions of pipelines', () => {
  /** A queue with one due run whose only step is a function of the config. */
  async function work(
    step: string,
    more = '',
    ...args: readonly string[]
  ): Promise<Ended & { readonly files: readonly string[] }> {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'rota.config.mjs'), `${wait}\n${more}\nexport default { steps: { it: ${step} } }`)
    writeFileSync(join(cwd, 'pipeline.yml'), 'steps: [{ uses: it }]')
    mkdirSync(join(cwd, 'data/queue/pending'), { recursive: true })
    const name = '20260105T110000Z_a1.json'
    const run = {
      schema_version: 'v1',
      job_id: 'a1',
      scheduled_for: '2026-01-05T11:00:00Z',
      run_id: 'morning_a1',
    }
    writeFileSync(
      join(cwd, 'data/queue/pending', name),
      JSON.stringify({ ...run, pipeline_path: 'pipeline.yml' }),
    )
    const ended = await rota(['work', ...args], { cwd, env: { WORKER_ENABLED: 'on' } })
    const files = ['pending', 'running', 'done', 'failed'].flatMap((folder) => {
      const path = join(cwd, 'data/queue', folder)
      return existsSync(path) ? readdirSync(path).map((file) => `${folder}/${file}`) : []
    })
    return { ...ended, files: files.filter((file) => file.endsWith(name)) }
  }

  const [pending, active, done, failed] = ['pending', 'running', 'done', 'failed'].map((folder) => [
    `${folder}/20260105T110000Z_a1.json`,
  ])

  it('fails the run whose step did not await a promise', async () => {
    const worked = await work(`async () => { void Promise.reject(new Error('forgotten')); await wait(20) }`)
    expect(worked).toMatchObject({ code: 1, files: failed, stderr: '' })
    expect(worked.stdout).toContain('morning_a1 failed after')
    expect(worked.stdout).toContain('forgotten')
  })

  it('does not change a finished run if the error comes later, and reports it', async () => {
    const worked = await work(`() => void setTimeout(() => { throw new Error('after the end') }, 1000)`)
    expect(worked).toMatchObject({ code: 0, files: done })
    expect(worked.stdout + worked.stderr).toContain('after the end')
  })

  it('ends even if a step leaves a timer running', async () => {
    expect(await work('() => void setInterval(() => 0, 1e6)')).toMatchObject({ code: 0, files: done })
  })

  it('exits with 70 if a step calls process.exit, and its run is taken back later', async () => {
    const worked = await work('() => process.exit(0)')
    expect(worked).toMatchObject({ code: 70, files: active })
    expect(worked.stderr).toMatch(
      /^error: process\.exit\(0\) was called by run \w+ of pipeline; it interrupted morning_a1, which counts as a crash; exit code 70\n$/,
    )
  })

  it('releases its run and exits with 70 if the error belongs to no run', async () => {
    const stray = `let begin = () => {}
      new Promise((resolve) => (begin = resolve)).then(() => { throw new Error('of the config') })`
    const step = `({ signal }) => new Promise((resolve) => {
      signal.addEventListener('abort', resolve)
      begin()
    })`
    // The config of --config is loaded before anything is claimed; the default config is loaded as code of the run that needs it.
    const worked = await work(step, stray, '--config', 'rota.config.mjs')
    expect(worked).toMatchObject({ code: 70, files: pending })
    expect(worked.stderr).toContain(
      'error: an uncaught error of no run: of the config [INTERNAL]; waiting up to 10s to release morning_a1\n',
    )
  })
})
