import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { rota } from './rota.js'

it('a command runs in the directory of its app, and a relative directory of its own starts there', async () => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'rota-directory-')))
  await mkdir(join(directory, 'inside'))
  const app = rota({ store: 'memory:', directory })
  const argv = [process.execPath, '-p', 'process.cwd()']
  app.define('plain', { command: argv })
  app.define('inside', { command: { argv, cwd: 'inside' } })
  await app.start()
  const runs = await Promise.all(
    ['plain', 'inside'].map(async (job) => app.wait((await app.enqueue(job)).id)),
  )
  await app.stop()
  await rm(directory, { recursive: true })
  expect(runs.map((run) => run.result)).toEqual([
    { exitCode: 0, stdout: directory },
    { exitCode: 0, stdout: join(directory, 'inside') },
  ])
})
