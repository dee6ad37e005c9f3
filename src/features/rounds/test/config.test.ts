import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadApp } from '../../../app/definitions/load-app.js'
import { RotaError } from '../../../kernel/definition/errors.js'

const jobs = `jobs:
  crawl: { command: [node, crawl.mjs] }
  report: { command: [node, report.mjs] }
`

function written(text: string): { path: string; directory: string } {
  const directory = mkdtempSync(join(tmpdir(), 'rota-rounds-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'rota.config.yaml')
  writeFileSync(path, text)
  return { path, directory }
}

it('R1: a round of a config is defined like other triggers, and stored with its list and interval', async () => {
  const { path, directory } = written(`app: a
${jobs}rounds:
  crawlers:
    every: 1h
    services:
      - crawl
      - { job: report, every: 24h }
`)
  const app = await loadApp(path, { directory, store: 'memory:' })
  const report = await app.start({ roles: { worker: false } })
  expect(report?.defined).toEqual(['crawlers'])
  expect(await app.rounds.status('crawlers')).toMatchObject({
    intervalMs: 3_600_000,
    services: ['crawl', 'report'],
  })
  await app.stop({ grace: 0 })
})

it('faults of a round are reported together, with their lines', async () => {
  const { path, directory } = written(`app: a
${jobs}rounds:
  one: { every: soon, services: [crawl, crawl, crwal] }
  two:
    every: 1h
    services:
      - { job: report, often: 24h }
`)
  const error = await loadApp(path, { directory, store: 'memory:' }).catch((thrown: unknown) => thrown)
  const faults = error instanceof RotaError ? (error.faults ?? []) : []
  expect(faults.map(({ path: at, message }) => `${at}: ${message}`)).toEqual([
    expect.stringMatching(/^rounds\.one\.every: /),
    'rounds.one.services: more than once: crawl',
    'rounds.one.services: no jobs of that name: crwal; did you mean crawl?',
    expect.stringMatching(/^rounds\.two\.services\[0\]\.often: unknown option/),
  ])
  expect(error).toMatchObject({ message: expect.stringContaining('rota.config.yaml') as string })
})

it('all services that are not jobs are reported, each with its place', async () => {
  const { path, directory } = written(`app: a
${jobs}rounds:
  crawlers:
    every: 1h
    services:
      - crawl
      - nothing
      - { job: nobody }
`)
  const app = await loadApp(path, { directory, store: 'memory:' })
  const error = await app.start({ roles: { worker: false } }).catch((thrown: unknown) => thrown)
  await app.close()
  expect(error).toMatchObject({
    faults: [
      {
        path: 'rounds.crawlers.services[1]',
        message: 'no job is named nothing',
        where: 'rota.config.yaml:10:9',
      },
      {
        path: 'rounds.crawlers.services[2]',
        message: 'no job is named nobody',
        where: 'rota.config.yaml:11:9',
      },
    ],
  })
})
