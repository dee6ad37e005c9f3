import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { rota } from '../app/rota.js'

it('a command runs in the directory of its app, and its own relative directory starts there', async () => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'rota-directory-')))
  await mkdir(join(directory, 'inside'))
  const app = rota({ store: 'memory:', directory })
  const argv = [process.execPath, '-p', 'process.cwd()']
  app.job('plain', { command: argv })
  app.job('inside', { command: { argv, cwd: 'inside' } })
  await app.start()
  const runs = await Promise.all(
    ['plain', 'inside'].map(async (job) => app.runs.wait((await app.enqueue(job)).id)),
  )
  await app.stop()
  await rm(directory, { recursive: true })
  expect(runs.map((run) => run.result)).toEqual([
    { exitCode: 0, stdout: directory },
    { exitCode: 0, stdout: join(directory, 'inside') },
  ])
})

it.each(['sqlite:store/rota.db', 'files:store'])(
  'secrets of commands, requests and steps reach their targets and are in no file of %s',
  async (store) => {
    const directory = await mkdtemp(join(tmpdir(), 'rota-secrets-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const seen: string[] = []
    const server = createServer(({ headers }, response) => {
      seen.push(headers.authorization ?? '')
      response.end(`you are ${headers.authorization}`)
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const [ofEnv, ofFile] = ['s3cr3t-of-env', 's3cr3t-of-file']
    process.env['ROTA_TEST_SECRET'] = ofEnv
    onTestFinished(() => void delete process.env['ROTA_TEST_SECRET'])
    await writeFile(join(directory, 'token'), `${ofFile}\n`)
    const print = [process.execPath, '-e', 'console.log(process.env.API_TOKEN); process.exit(7)']
    await writeFile(
      join(directory, 'steps.yml'),
      JSON.stringify({
        steps: [
          { http: { url, headers: { authorization: { env: 'ROTA_TEST_SECRET', prefix: 'Bearer ' } } } },
          { run: { argv: print, env: { API_TOKEN: { file: 'token' } } } },
        ],
      }),
    )
    const app = rota({ store, directory, durability: 'normal' })
    app.job('command', { command: { argv: print, env: { API_TOKEN: { file: 'token' } } } })
    app.job('request', { http: { url, headers: { authorization: { env: 'ROTA_TEST_SECRET' } } } })
    app.job('steps', { pipeline: 'steps.yml' })
    await app.start()
    const jobs = ['command', 'request', 'steps']
    const runs = await Promise.all(jobs.map(async (job) => app.runs.wait((await app.enqueue(job)).id)))
    expect(runs.map(({ state }) => state)).toEqual(['failed', 'done', 'failed'])
    expect(runs[1]?.result).toEqual({ status: 200, body: 'you are ***' })
    expect((await app.runs.logs(runs[0]?.id ?? '')).map(({ text }) => text)).toEqual(['***'])
    expect(seen.toSorted()).toEqual([`Bearer ${ofEnv}`, ofEnv])
    await app.stop()
    const files = await readdir(join(directory, 'store'), { recursive: true, withFileTypes: true })
    for (const file of files.filter((one) => one.isFile())) {
      const bytes = await readFile(join(file.parentPath, file.name))
      expect([bytes.includes(ofEnv), bytes.includes(ofFile)]).toEqual([false, false])
    }
  },
)
