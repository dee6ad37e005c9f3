import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../src/app/rota.js'
import { program } from '../../src/cli/commands.js'
import { withSubcommands } from '../../src/cli/framework/subcommand.js'
import { type Case, casesOf, parts, type Tried, untried, waitingRun } from './corpus.js'
import { runHere } from './in-process.js'
import { emptyDirectory, type Ended } from './rota.js'

const environment = { SCHEDULER_ENABLED: '1', WORKER_ENABLED: '1', USER: 'tester' }
const all: readonly Tried[] = (
  await Promise.all(
    Object.entries(await program.commands()).map(async ([name, { load }]) =>
      withSubcommands(await load(), name),
    ),
  )
).flat()
let directory: string

beforeAll(async () => {
  directory = emptyDirectory()
  writeFileSync(join(directory, 'rota.config.yaml'), 'app: corpus\nstore: sqlite:data/rota.db\n')
  const app = createApp({ directory, store: 'sqlite:data/rota.db' }, 'config:corpus')
  app.job('greet', { command: ['true'] })
  app.schedule('nightly', { job: 'greet', cron: '@daily' })
  for (const { prepare } of parts) await prepare?.(app, directory)
  await app.start({ roles: { scheduler: true, worker: false } })
  await app.stop()
})

describe('an invalid value on a command line', () => {
  it('is tested in every place that accepts a value', () => {
    expect(all.map((one) => [one.path, untried(one)]).filter(([, left]) => left?.length)).toEqual([])
    expect(all.flatMap(casesOf).length).toBeGreaterThan(1000)
  })

  it.each(all.map((one): [string, Tried] => [one.path, one]))(
    'is refused in one short line that names its place, and nothing is made: %s',
    async (_, tried) => {
      const problems: string[] = []
      for (const one of casesOf(tried)) problems.push(...(await problemsOf(one)))
      expect(problems).toEqual([])
    },
  )

  it.each([
    [['runs', '--=x'], '`--`'],
    [['runs', '---state'], '---state'],
    [['runs', '-nn'], '-nn'],
    [['runs', '--json=1'], '--json'],
    [['runs', '--state'], '--state'],
    [['runs', '--state', '--json'], '--state'],
    [['runs', '--', '--json'], '--json'],
    [['show', '--'], '<name>'],
    [['list', 'a', '--'], 'a'],
    [[`-\u001b[31m`], 'unknown command'],
    [['x'.repeat(1_000_000)], 'unknown command'],
    [['help', 'x'.repeat(1_000_000)], 'unknown command'],
    [['--nonsense'], '--nonsense'],
    [[''], '""'],
  ])('is refused where dashes or commands are odd: %#', async (argv, holder) => {
    expect(await problemsOf({ argv, holder, value: '', mayPass: false })).toEqual([])
  })

  it('is reported as one line of JSON with --json', async () => {
    const { code, stderr } = await runHere(['runs', '--json', '--since', 'soon\u001b'], { directory })
    expect(code).toBe(2)
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'USAGE', faults: [{ path: '--since' }] } })
  })
})

async function problemsOf(one: Case): Promise<string[]> {
  const place = one.argv[0] === 'init' ? emptyDirectory() : directory
  const argv = one.argv.includes(waitingRun) ? one.argv.with(1, await newRun()) : one.argv
  const before = new Set(pathsIn(place))
  const ended = await runHere(argv, { directory: place, environment })
  if (one.mayPass && ended.code === 0) return []
  const made = pathsIn(place).filter((path) => !before.has(path))
  const found = [...wrongWith(ended, one), ...made.map((path) => `made ${path}`)]
  const line = one.argv.map((word) => word.slice(0, 40)).join(' ')
  return found.map((problem) => `${line}: ${problem}: ${ended.stderr.slice(0, 400)}`)
}

async function newRun(): Promise<string> {
  return (await runHere(['enqueue', 'greet', '--delay', '1d'], { directory })).stdout.trim()
}

/** The files that SQLite has only while a store is open do not count. */
function pathsIn(place: string): string[] {
  return readdirSync(place, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !/-(?:wal|shm)$/.test(path),
  )
}

function wrongWith({ code, stdout, stderr }: Ended, { holder, value }: Case): string[] {
  const quoted = JSON.stringify(value.slice(0, 2)).slice(1, -1)
  const isNamed = stderr.includes(holder) || (holder.startsWith('<') && stderr.includes(quoted))
  const checks: Readonly<Record<string, boolean>> = {
    [`exit code ${code}`]: code === 2 || code === 3,
    'it printed': stdout === '',
    'more than one line': /^[^\n]+\n$/.test(stderr),
    'too long': stderr.length < 4000,
    // oxlint-disable-next-line no-control-regex
    'control characters': !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]|\p{Cs}/u.test(stderr),
    'words of the inside': !/\[object |undefined|INTERNAL|TypeError|illegal operation|getaddrinfo/.test(
      stderr,
    ),
    [`${holder} is not named`]: isNamed,
    'refused for another reason': !/has no option|cannot be used with|takes none/.test(stderr),
  }
  return Object.keys(checks).filter((problem) => checks[problem] === false)
}
