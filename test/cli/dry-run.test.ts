import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { loadApp } from '../../src/app/definitions/load-app.js'
import { createApp } from '../../src/app/rota.js'
import { program } from '../../src/cli/commands.js'
import { dryRunOption } from '../../src/cli/framework/command.js'
import { withSubcommands } from '../../src/cli/framework/subcommand.js'
import { hasFeatures, isWhole } from '../features.js'
import { runHere } from './in-process.js'
import { emptyDirectory } from './rota.js'

const directory = emptyDirectory()
const store = `sqlite:${join(directory, 'rota.db')}`
const ids = { failed: '', pending: '', token: '', backfill: '', bulk: '' }

/** A store with something of every existing feature; nothing runs. */
beforeAll(async () => {
  const jobs = { work: { command: ['true'] }, other: { command: ['true'] } }
  const config = {
    app: 'test',
    store,
    jobs,
    triggers: { nightly: { job: 'work', cron: '0 2 * * *' } },
    ...(hasFeatures('alerts') ? { alerts: { channels: { ops: { command: ['false'] } } } } : {}),
    ...(hasFeatures('assets') ? { assets: { days: { command: ['true'], partitions: 'daily' } } } : {}),
    ...(hasFeatures('sensors')
      ? { sensors: { inbox: { type: 'files', glob: '*.csv', directory: '.', every: '1h', job: 'work' } } }
      : {}),
  }
  writeFileSync(join(directory, 'rota.config.json'), JSON.stringify(config))
  const app = await loadApp(join(directory, 'rota.config.json'), { directory })
  await app.start({ roles: { worker: false } })
  ids.failed = (await app.enqueue('work', 1)).id
  const { id: another } = await app.enqueue('other', 1)
  for (const id of [ids.failed, another]) await app.runs.cancel(id)
  ids.pending = (await app.enqueue('work', 2, { delay: '1h' })).id
  await (await app.store()).register({
    id: 'w',
    host: 'web-1',
    pid: 7,
    version: '1',
    slots: 1,
    now: app.now(),
    leaseMs: 3_600_000,
  })
  await app.close()
  expect(await obey('add', 'added', '--every', '1h', '--job', 'work')).toMatchObject({ code: 0 })
  ids.token = (await made('token', 'create', 'ci')).id
  if (hasFeatures('rounds')) await made('round', 'start', 'crawl', '--every', '1h', '-s', 'work')
  if (hasFeatures('command-jobs'))
    await made('job', 'add', 'job_1', '--schedule', '0 9 * * *', '--command', 'work')
  const days = ['--from', '2026-01-01', '--to', '2026-01-04', '--definition', 'current']
  ids.backfill = (await made('backfill', 'nightly', ...days, '--yes')).id
  if (hasFeatures('bulk')) ids.bulk = (await made('retry', '--filter', 'job:other state:cancelled')).id
})

async function obey(...words: string[]) {
  return await runHere([...words, '--store', store], { directory })
}

async function made(...words: string[]): Promise<{ id: string }> {
  const ended = await obey(...words, '--json')
  expect(ended).toMatchObject({ code: 0 })
  return JSON.parse(ended.stdout) as { id: string }
}

/** A command line for each command with a dry run. */
function lines(): Readonly<Record<string, readonly string[]>> {
  return {
    add: ['new', '--every', '1h', '--', 'true'],
    remove: ['added'],
    run: ['nightly'],
    enqueue: ['work'],
    retry: [ids.failed],
    reload: [],
    cancel: [ids.pending],
    backfill: ['--cancel', ids.backfill],
    pause: ['nightly', '--reason', 'why'],
    resume: ['nightly'],
    freeze: [],
    thaw: [],
    switch: ['worker', 'off'],
    'workers drain': ['web-1'],
    'workers undrain': ['web-1'],
    'token create': ['mine', '--role', 'read'],
    'token revoke': [ids.token],
    ...(hasFeatures('alerts') ? { 'alert test': ['ops'] } : {}),
    ...(hasFeatures('bulk') ? { 'bulk abort': [ids.bulk] } : {}),
    ...(hasFeatures('rounds')
      ? {
          'round start': ['new', '--every', '1h', '-s', 'other'],
          'round stop': ['crawl'],
          'round timing set': ['work', '--every', '3h'],
        }
      : {}),
    ...(hasFeatures('sensors')
      ? { 'sensor reset': ['inbox', '--forget-keys'], 'sensor pause': ['inbox'], 'sensor resume': ['inbox'] }
      : {}),
    ...(hasFeatures('assets')
      ? {
          'asset materialize': ['days', '--partition', '2026-01-02'],
          'asset backfill': ['days', '--partition', '2026-01-03', '--yes'],
        }
      : {}),
    ...(hasFeatures('command-jobs')
      ? {
          'job add': ['job_2', '--schedule', '0 9 * * *', '--command', 'work'],
          'job remove': ['job_1'],
          'job run': ['job_1'],
          'job cleanup': [],
        }
      : {}),
  }
}

async function facts(): Promise<unknown> {
  const app = createApp({ store, directory, create: false }, 'api')
  const { facts: found } = await (await app.store()).facts({ limit: 10_000 })
  await app.close()
  return found
}

it('every command with --reason also has --dry-run, which changes nothing', async () => {
  const entries = Object.entries(await program.commands())
  const found = await Promise.all(
    entries.map(async ([name, entry]) => withSubcommands(await entry.load(), name)),
  )
  const commands = found.flat().filter(({ command }) => command.run !== undefined)
  const names = (option: string): readonly string[] =>
    commands.flatMap(({ command: { options = [] }, path }) =>
      options.some(({ name }) => name === option) ? [path] : [],
    )
  expect(names('reason').filter((path) => !names(dryRunOption.name).includes(path))).toEqual([])
  const tried = commands.flatMap(({ command: { options = [] }, path }) =>
    options.includes(dryRunOption) ? [path] : [],
  )
  if (isWhole) expect(tried.toSorted()).toEqual(Object.keys(lines()).toSorted())
  const before = await facts()
  for (const [path, words] of Object.entries(lines())) {
    const text = await obey(...path.split(' '), '--dry-run', ...words)
    expect({ path, ...text }).toMatchObject({ path, code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^dry run: nothing was changed\. Without --dry-run:\n./)
    const json = await obey(...path.split(' '), '--dry-run', '--json', ...words)
    expect(() => JSON.parse(json.stdout) as unknown).not.toThrow()
    expect({ path, facts: await facts() }).toEqual({ path, facts: before })
  }
})

it('a dry run creates no store', async () => {
  const empty = emptyDirectory()
  const added = await runHere(['add', 'x', '--every', '1h', '--dry-run', '--', 'true'], { directory: empty })
  expect(added).toMatchObject({ code: 0 })
  expect(await runHere(['list'], { directory: empty })).toMatchObject({ code: 3 })
})
