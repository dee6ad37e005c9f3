import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { rota, type Rota } from '../rota.js'

function aStore(): string {
  const directory = mkdtempSync(join(tmpdir(), 'rota-own-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return `sqlite:${join(directory, 'rota.db')}`
}

/** Starts a program that plans and defines these jobs, calls a function, and stops it. */
async function asProgram<Answer>(
  store: string,
  { app: name, jobs }: { app: string; jobs: readonly string[] },
  act: (app: Rota) => Promise<Answer>,
): Promise<Answer> {
  const app = rota({ store, app: name })
  for (const job of jobs) app.job(job, () => undefined)
  try {
    await app.start({ roles: { worker: false } })
    return await act(app)
  } finally {
    await app.stop()
  }
}

const nothing = async (): Promise<void> => undefined

it('a job that its source no longer defines can be taken by another program, and then belongs to it', async () => {
  const store = aStore()
  await asProgram(store, { app: 'one', jobs: ['mail', 'report'] }, nothing)
  await expect(asProgram(store, { app: 'two', jobs: ['mail'] }, nothing)).rejects.toThrow(
    'job mail is already defined by code:one',
  )
  await asProgram(store, { app: 'one', jobs: ['report'] }, nothing)
  const owners = await asProgram(store, { app: 'two', jobs: ['mail'] }, async (app) =>
    (await app.jobs.list()).map(({ job, source }) => [job.name, source]),
  )
  expect(owners).toEqual([
    ['mail', 'code:two'],
    ['report', 'code:one'],
  ])
  await expect(asProgram(store, { app: 'one', jobs: ['mail'] }, nothing)).rejects.toThrow(
    'job mail is already defined by code:two',
  )
})

it('a job that its source no longer defines can be added and removed at run time', async () => {
  const store = aStore()
  await asProgram(store, { app: 'one', jobs: ['mail', 'report', 'used'] }, async (app) => {
    await app.triggers.add({ daily: { job: 'used', every: '1d' } })
    await expect(app.jobs.add({ mail: { command: ['true'] } })).rejects.toThrow('already defined')
    await expect(app.jobs.remove('report')).rejects.toThrow('job report is defined by code:one')
  })
  await asProgram(store, { app: 'one', jobs: [] }, async (app) => {
    await app.jobs.add({ mail: { command: ['true'] } })
    expect(await app.jobs.remove('report')).toMatchObject({ job: { name: 'report' } })
    // A trigger that was added at run time still uses the job.
    await expect(app.jobs.remove('used')).rejects.toThrow('job used is still used by a trigger')
    expect((await app.jobs.list()).map(({ job, source }) => [job.name, source, job.ended ?? false])).toEqual([
      ['mail', 'api', false],
      ['used', 'code:one', true],
    ])
  })
  await asProgram(store, { app: 'one', jobs: ['used'] }, async (app) => {
    expect((await app.jobs.list()).find(({ job }) => job.name === 'used')?.job.ended).toBeUndefined()
  })
})
